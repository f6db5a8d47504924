import { BudgetError, TransportError } from "../errors.js";
import type { Budget } from "../pipeline.js";

/**
 * Lets calls through while their tokens fit a budget. What a call will cost is known only afterwards: until then our
 * count stands for it, scaled by how much more the service has counted so far. The first call goes alone, so that this
 * is known before many are on their way. A call that failed costs nothing, unless it was answered.
 */
export class TokenBudget implements Budget {
  readonly #maxTokens: number;
  /** As the service counted. */
  #spent = 0;
  /** Our count of the same calls. */
  #counted = 0;
  /** Expected of calls that the service answered with what nobody can read: it counted them, and did not say how much. */
  #wasted = 0;
  /** Expected of the calls under way. */
  #underWay = 0;
  #alone: Promise<void> | undefined;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /**
   * Makes a call of `tokens` tokens by our count.
   *
   * @throws BudgetError when it does not fit any more; nothing was sent then.
   */
  async spend<Reply extends { readonly tokens: number }>(tokens: number, call: () => Promise<Reply>): Promise<Reply> {
    while (this.#counted === 0 && this.#alone) await this.#alone;
    const expected = Math.ceil(tokens * this.#ratio());
    if (this.#gone() + expected > this.#maxTokens) throw this.#usedUp(expected);
    const reply = this.#charge(tokens, expected, call);
    if (this.#counted === 0) this.#alone = settled(reply);
    try {
      return await reply;
    } finally {
      if (this.#counted === 0) this.#alone = undefined;
    }
  }

  async #charge<Reply extends { readonly tokens: number }>(
    tokens: number,
    expected: number,
    call: () => Promise<Reply>,
  ): Promise<Reply> {
    this.#underWay += expected;
    try {
      const reply = await call();
      this.#spent += reply.tokens;
      this.#counted += tokens;
      return reply;
    } catch (error) {
      if (error instanceof TransportError && (error.code === "reply" || error.code === "truncated")) {
        this.#wasted += expected;
      }
      throw error;
    } finally {
      this.#underWay -= expected;
    }
  }

  /** What the service has counted so far, and will have of the calls under way. */
  #gone(): number {
    return this.#spent + this.#wasted + this.#underWay;
  }

  /** The service's tokens for one of ours; at least 1, so that a service that says nothing of its count is no bargain. */
  #ratio(): number {
    return this.#counted === 0 ? 1 : Math.max(1, this.#spent / this.#counted);
  }

  #usedUp(expected: number): BudgetError {
    const [most, spent, next] = [this.#maxTokens, this.#gone(), expected].map((tokens) =>
      tokens.toLocaleString("en-US"),
    );
    return new BudgetError(
      `The budget is ${most} tokens: ${spent} are spent, and the next request of about ${next} would pass it. ` +
        `What was embedded is kept: run again ${this.#spent + this.#underWay > 0 ? "" : "with a larger budget "}to go on`,
      { maxTokens: this.#maxTokens },
    );
  }
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {});
}
