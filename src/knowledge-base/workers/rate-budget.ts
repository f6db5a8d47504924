import { setTimeout as sleep } from "node:timers/promises";
import type { Embedder } from "../../core/ports.js";
import type { Server } from "../../postgres/server.js";

/** Limits on the requests of all workers together, by the embedder's space. */
export interface RateLimits {
  /**
   * Maximum embedding requests a minute of all workers together, 1 or more. Default: the last limit set; initially
   * none.
   */
  readonly requestsPerMinute?: number | undefined;
  /** Maximum tokens a minute of all workers together, 1 or more. Default: the last limit set; initially none. */
  readonly tokensPerMinute?: number | undefined;
}

// A tenth of a minute's limit may come at once, and the rest is spread over the minute: so no 60 seconds hold more than
// the limit, wherever they begin. The service counts whole minutes of its own, whose boundaries are unknown here.
const burst = (limit: string) => `greatest(1, floor(${limit} / 10))`;
const perSecond = (limit: string) => `(greatest(${limit} - ${burst(limit)}, 1) / 60)`;

/**
 * One token bucket in the database for all workers. A request takes its tokens at once, even into debt, and waits until
 * the debt would be paid: requests are served in the order in which they asked, and a large one is never overtaken for
 * ever. The database's clock counts, so the clocks of the machines need not agree.
 */
export class RateBudget {
  readonly #database: Server;
  readonly #name: string;

  /** @param name the vector space: models of two names have budgets of their own. */
  constructor(database: Server, name: string) {
    this.#database = database;
    this.#name = name;
  }

  /** Sets limits for all workers; one that is not given stays. A new bucket is full. */
  async limit({ requestsPerMinute, tokensPerMinute }: RateLimits): Promise<void> {
    if (requestsPerMinute === undefined && tokensPerMinute === undefined) return;
    await this.#database.transaction((session) =>
      session.query(
        `INSERT INTO ingest_rates AS rates (name, requests_per_minute, tokens_per_minute) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET
           requests_per_minute = coalesce($2, rates.requests_per_minute),
           tokens_per_minute = coalesce($3, rates.tokens_per_minute)`,
        [this.#name, requestsPerMinute ?? null, tokensPerMinute ?? null],
      ),
    );
  }

  /** Takes from the budget. Returns the milliseconds to wait before the request may be sent, 0 if there is no limit. */
  async take(requests: number, tokens: number): Promise<number> {
    const left = (column: string, cost: string) => {
      const limit = `${column}_per_minute`;
      const elapsed = "greatest(0, extract(epoch FROM clock_timestamp() - rates.filled_at))";
      const filled = `least(${burst(limit)}, rates.${column} + ${perSecond(limit)} * ${elapsed})`;
      return `CASE WHEN ${limit} IS NULL THEN 0 ELSE ${filled} - ${cost} END`;
    };
    const [row] = await this.#database.read((session) =>
      session.query<{ wait_ms: number }>(
        `UPDATE ingest_rates AS rates SET
           requests = ${left("requests", "$2")}, tokens = ${left("tokens", "$3")}, filled_at = clock_timestamp()
         WHERE name = $1
         RETURNING 1000 * greatest(0, -requests / ${perSecond("requests_per_minute")},
                                      -tokens / ${perSecond("tokens_per_minute")}) AS wait_ms`,
        [this.#name, requests, tokens],
      ),
    );
    return row?.wait_ms ?? 0;
  }
}

/** The embedder, each of whose requests waits for its share of the budget, as does each repetition of one that failed. */
export function withinBudget<Space extends string>(embedder: Embedder<Space>, budget: RateBudget): Embedder<Space> {
  const { space, maxInputTokens, maxBatchTexts, maxBatchTokens, tokens, price } = embedder;
  return {
    space,
    maxInputTokens,
    maxBatchTexts,
    ...(maxBatchTokens !== undefined && { maxBatchTokens }),
    ...(price && { price }),
    tokens,
    // These are known only as calls are answered.
    get tokenMargin() {
      return embedder.tokenMargin ?? 1;
    },
    embed: async (texts, call = {}) => {
      const counted = call.countedTokens ?? texts.reduce((sum, text) => sum + tokens.count(text), 0);
      const expected = Math.ceil(counted * (embedder.tokenMargin ?? 1));
      // Nothing may follow a failed attempt, whose wait then keeps no process from ending.
      const turn = async (ref: boolean) => {
        const waitMs = await budget.take(1, expected);
        if (waitMs > 0) await sleep(waitMs, undefined, { signal: call.signal, ref });
      };
      await turn(true).catch((error: unknown) => {
        call.signal?.throwIfAborted();
        throw error;
      });
      const reply = await embedder.embed(texts, {
        ...call,
        onFailedAttempt: async (attempt) => {
          await Promise.all([call.onFailedAttempt?.(attempt), turn(false).catch(() => {})]);
        },
      });
      if (reply.tokens && reply.tokens !== expected) void budget.take(0, reply.tokens - expected).catch(() => {});
      return reply;
    },
  };
}
