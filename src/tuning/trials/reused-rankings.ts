import { createHash } from "node:crypto";
import { z } from "zod";
import type { Reranker, RerankCall, Reranking, TokenCounter } from "../../core/ports.js";
import { keepLines, keptLines } from "./kept-lines.js";
import type { TuningBudget } from "./tuning-budget.js";

/** A score of a passage for a question, or a number of tokens that were paid. */
const KeptLine = z.union([z.number(), z.object({ key: z.string(), score: z.number() })]);

/** Reranks for trials within a budget, and no passage twice for the same question: a model scores each by itself. */
export class ReusedRankings {
  readonly #path: string;
  readonly #budget: TuningBudget;
  readonly #tokens: TokenCounter;
  readonly #scores = new Map<string, number>();
  #failure: { readonly error: unknown } | undefined;

  private constructor(path: string, budget: TuningBudget, tokens: TokenCounter) {
    this.#path = path;
    this.#budget = budget;
    this.#tokens = tokens;
  }

  /**
   * @param path of the file that keeps scores, and how many tokens were paid.
   * @param tokens counts what a request will take; no reranker says how it counts.
   */
  static async open(path: string, budget: TuningBudget, tokens: TokenCounter): Promise<ReusedRankings> {
    const reused = new ReusedRankings(path, budget, tokens);
    for (const line of await keptLines(path, KeptLine)) {
      if (typeof line === "number") budget.settle("rerank", line);
      else reused.#scores.set(line.key, line.score);
    }
    return reused;
  }

  /** The reranker with everything known in front of it. */
  before(reranker: Reranker): Reranker {
    const rerank: Reranker["rerank"] = async (query, documents, call = {}) => {
      try {
        return await this.#rerank(reranker, query, documents, call);
      } catch (error) {
        this.#failure ??= { error };
        throw error;
      }
    };
    return { ...reranker, rerank };
  }

  /** Throws what made a request fail: a search goes on without its reranker, and would be measured as if it had none. */
  throwIfFailed(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
  }

  async #rerank(
    reranker: Reranker,
    query: string,
    documents: readonly string[],
    { topN = documents.length, ...call }: RerankCall,
  ): Promise<Reranking> {
    const keys = documents.map((document) =>
      createHash("sha256")
        .update(JSON.stringify([reranker.model, query, document]))
        .digest("base64"),
    );
    const missing = documents.flatMap((_, index) => (this.#scores.has(keys[index]!) ? [] : [index]));
    let paid = 0;
    if (missing.length > 0) {
      const sent = missing.map((index) => documents[index]!);
      const asked = this.#tokens.count(query);
      const estimated = sent.reduce((sum, document) => sum + asked + this.#tokens.count(document), 0);
      const request = () => reranker.rerank(query, sent, call);
      const { results, tokens } = await this.#budget.pay("rerank", estimated, request);
      paid = tokens;
      const scored = results.map(({ index, score }) => ({ key: keys[missing[index]!]!, score }));
      for (const { key, score } of scored) this.#scores.set(key, score);
      await keepLines(this.#path, [tokens, ...scored]);
    }
    const results = keys
      .flatMap((key, index) => {
        const score = this.#scores.get(key);
        return score === undefined ? [] : [{ index, score }];
      })
      .toSorted((a, b) => b.score - a.score || a.index - b.index)
      .slice(0, topN);
    return { results, tokens: paid };
  }
}
