import { BudgetError, TransportError } from "../../core/errors.js";
import type { Budget, Charge } from "../../core/ports.js";

/**
 * Admits calls while the token budget lasts. The true cost of a call is known only afterwards; until then our count
 * stands for it, scaled by how much more the service has counted so far. The first call goes alone, so that this ratio is
 * known before many calls are in flight. A call that failed costs nothing, unless it was answered.
 */
export class TokenBudget implements Budget {
  /** Maximum tokens to spend, as the service counts them. */
  readonly maxTokens: number;
  /** Tokens that the service counted. */
  #spent = 0;
  /** Our count of the same calls. */
  #counted = 0;
  /** The expected cost of unreadable replies, which the service counted without saying how much. */
  #wasted = 0;
  /** The expected cost of the calls in flight. */
  #inFlight = 0;
  #alone: Promise<unknown> | undefined;

  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
  }

  /**
   * Reserves what a call of `tokens` tokens by our count will cost.
   *
   * @throws BudgetError when the budget cannot pay for it.
   */
  async reserve(tokens: number): Promise<Charge> {
    while (this.#counted === 0 && this.#alone) await this.#alone;
    const expected = Math.ceil(tokens * this.#ratio());
    if (this.#total() + expected > this.maxTokens) throw this.#exceeded(expected);
    this.#inFlight += expected;
    let end: (() => void) | undefined;
    if (this.#counted === 0) this.#alone = new Promise<void>((resolve) => (end = resolve));
    return {
      settle: (result) => {
        this.#inFlight -= expected;
        if ("error" in result) {
          if (isUnreadableReply(result.error)) this.#wasted += expected;
        } else {
          // A service that reports no usage has spent all the same: our count stands for it.
          this.#spent += result.tokens || expected;
          this.#counted += tokens;
        }
        if (!end) return;
        this.#alone = undefined;
        end();
      },
    };
  }

  /** Tokens that the service has counted so far, with those it will count for the calls in flight. */
  #total(): number {
    return this.#spent + this.#wasted + this.#inFlight;
  }

  /** The service's tokens per token of ours; at least 1, so that a service that reports no count is not taken as free. */
  #ratio(): number {
    return this.#counted === 0 ? 1 : Math.max(1, this.#spent / this.#counted);
  }

  #exceeded(expected: number): BudgetError {
    const [max, spent, next] = [this.maxTokens, this.#total(), expected].map((amount) =>
      amount.toLocaleString("en-US"),
    );
    return new BudgetError(
      `The budget is ${max} tokens: ${spent} are spent, and the next request of about ${next} would exceed it. ` +
        `What was embedded is kept: run again ${this.#spent + this.#inFlight > 0 ? "" : "with a larger budget "}to go on`,
      { maxTokens: this.maxTokens },
    );
  }
}

function isUnreadableReply(error: unknown): boolean {
  return error instanceof TransportError && (error.code === "reply" || error.code === "truncated");
}
