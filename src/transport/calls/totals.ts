import type { OperationName } from "../../contract/operations.js";
import { costOf, type Price } from "../../core/types.js";
import type { TransportEvent } from "./events.js";

/** The sums of all calls to one model. */
export interface ModelTotals {
  /** Calls that ended: answered, failed or left. */
  readonly calls: number;
  /** Calls that ended in an error, or by the caller's signal. */
  readonly failures: number;
  /** Times a call was sent, repetitions included. */
  readonly requests: number;
  /** Bytes of all bodies that were sent. */
  readonly sentBytes: number;
  /** Bytes of all replies that were read to their end. */
  readonly receivedBytes: number;
  /** Tokens of what was sent, as the service counted them. */
  readonly inputTokens: number;
  /** Those of `inputTokens` that the service took from its cache, as far as it said so. */
  readonly cachedTokens: number;
  /** Tokens of the replies, as the service counted them. */
  readonly outputTokens: number;
  /** Calls that were answered without token counts, which the sums above lack. */
  readonly uncounted: number;
  /** Cost by `prices`; `undefined` when the model has no price, or when calls are uncounted. */
  readonly cost: number | undefined;
}

/** Operations that use tokens. */
const modelOperations: ReadonlySet<OperationName> = new Set(["embeddings", "rerank", "chat"]);

type Sums = { -readonly [Field in keyof Omit<ModelTotals, "cost">]: number };

/** Adds up the events of a transport. Tokens of streams that were left are unknown, and not included. */
export class Totals {
  readonly #models = new Map<string, Sums>();
  readonly #prices: Readonly<Record<string, Price>>;

  constructor(prices: Readonly<Record<string, Price>>) {
    this.#prices = prices;
  }

  add(event: TransportEvent): void {
    if (event.type === "retry" || event.type === "cool-down" || event.type === "warning") return;
    const sums = this.#sumsOf(event.model);
    if (event.type === "request") {
      sums.requests++;
      sums.sentBytes += event.sizeBytes;
      return;
    }
    sums.calls++;
    if (event.type === "failure") sums.failures++;
    if (event.type !== "reply") return;
    sums.receivedBytes += event.sizeBytes;
    if (modelOperations.has(event.operation) && !event.usage) sums.uncounted++;
    sums.inputTokens += event.usage?.inputTokens ?? 0;
    sums.outputTokens += event.usage?.outputTokens ?? 0;
    sums.cachedTokens += event.usage?.cachedTokens ?? 0;
  }

  /** The sums as of now, by model. */
  read(): Readonly<Record<string, ModelTotals>> {
    return Object.fromEntries(
      [...this.#models].map(([model, sums]) => {
        const cost = sums.uncounted === 0 ? costOf(sums, this.#prices[model]) : undefined;
        return [model, { ...sums, cost }];
      }),
    );
  }

  #sumsOf(model: string): Sums {
    let sums = this.#models.get(model);
    if (!sums) {
      const bytes = { sentBytes: 0, receivedBytes: 0 };
      sums = {
        calls: 0,
        failures: 0,
        requests: 0,
        ...bytes,
        inputTokens: 0,
        cachedTokens: 0,
        outputTokens: 0,
        uncounted: 0,
      };
      this.#models.set(model, sums);
    }
    return sums;
  }
}
