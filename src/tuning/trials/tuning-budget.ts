import { OptionsError } from "../../core/errors.js";
import { BudgetReached } from "../chat-budget.js";

export interface TuningLimits {
  /** Maximum tokens of both models together. */
  readonly maxTokens?: number | undefined;
  /** Maximum cost of them, which needs `price`. */
  readonly maxCost?: number | undefined;
  /** Price of a million tokens of the embedding model. */
  readonly price?: number | undefined;
  /** Price of a million tokens of the reranker. Default: `price`. */
  readonly rerankPrice?: number | undefined;
}

/** Who is paid. */
export type PaidModel = "embedding" | "rerank";

/** Services count differently from us: a request is taken to have so many more tokens, until replies tell. */
const firstMargin = 1.2;

/** Limits what trials pay for embeddings and reranking together, earlier runs over the same folder included. */
export class TuningBudget {
  readonly #limits: TuningLimits;
  readonly #tokens: Record<PaidModel, number> = { embedding: 0, rerank: 0 };
  /** Tokens of requests that are under way. */
  readonly #reserved: Record<PaidModel, number> = { embedding: 0, rerank: 0 };
  readonly #margin: Record<PaidModel, number> = { embedding: firstMargin, rerank: firstMargin };

  /** @throws OptionsError for `maxCost` without a price. */
  constructor(limits: TuningLimits) {
    this.#limits = limits;
    if (limits.maxCost === undefined || limits.price !== undefined) return;
    throw new OptionsError("options", "maxCost needs the price of a million tokens: set price as well", {
      call: "tune",
      option: "maxCost",
    });
  }

  /** Tokens paid so far. */
  get tokens(): number {
    return this.#tokens.embedding + this.#tokens.rerank;
  }

  /** Their cost; `undefined` without a price. */
  get cost(): number | undefined {
    if (this.#limits.price === undefined) return undefined;
    return this.#costOf("embedding", this.#tokens.embedding) + this.#costOf("rerank", this.#tokens.rerank);
  }

  /** Tokens of this model that may still be paid. */
  left(model: PaidModel): number {
    const { maxTokens = Infinity, maxCost = Infinity } = this.#limits;
    const { embedding, rerank } = this.#reserved;
    const reservedCost = this.#costOf("embedding", embedding) + this.#costOf("rerank", rerank);
    const affordable =
      maxCost === Infinity ? Infinity : ((maxCost - this.cost! - reservedCost) / this.#costOf(model, 1e6)) * 1e6;
    return Math.max(0, Math.floor(Math.min(maxTokens - this.tokens - embedding - rerank, affordable)));
  }

  /**
   * Makes a request of so many tokens, as we count them, and counts what it took. Requests under way at once count by the most
   * that they may take.
   *
   * @throws BudgetReached when it might take more than is left.
   */
  async pay<Reply extends { readonly tokens?: number | undefined }>(
    model: PaidModel,
    estimated: number,
    request: () => Promise<Reply>,
  ): Promise<Reply & { readonly tokens: number }> {
    const most = Math.ceil(estimated * this.#margin[model]);
    if (most > this.left(model)) throw this.#reached();
    this.#reserved[model] += most;
    try {
      const reply = await request();
      const { tokens = estimated } = reply;
      this.settle(model, tokens);
      this.#margin[model] = Math.max(this.#margin[model], (1.05 * tokens) / Math.max(1, estimated));
      return { ...reply, tokens };
    } finally {
      this.#reserved[model] -= most;
    }
  }

  /** Counts what an earlier run paid. */
  settle(model: PaidModel, tokens: number): void {
    this.#tokens[model] += tokens;
  }

  #reached(): BudgetReached {
    const { maxTokens, maxCost } = this.#limits;
    const limit = maxTokens === undefined ? `maxCost is ${maxCost}` : `maxTokens is ${maxTokens}`;
    return new BudgetReached(`${limit}, and ${this.tokens} tokens were used: the next request may take more`);
  }

  #costOf(model: PaidModel, tokens: number): number {
    const { price = 0, rerankPrice = price } = this.#limits;
    return (tokens * (model === "embedding" ? price : rerankPrice)) / 1e6;
  }
}
