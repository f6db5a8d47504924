import { costOf, type Price } from "../price.js";
import type { ModelRequest, Usage } from "../types.js";

export interface RequestFacts {
  readonly step: string;
  /** The model that was asked. */
  readonly by: { readonly model: string; readonly price?: Price };
  readonly usage: Usage;
  /** When it was asked, as `performance.now()` counts. */
  readonly started: number;
  /** Of a chat: how many messages were sent. */
  readonly messages?: number;
}

/** One request, for the account of an answer. Made when it has ended. */
export function modelRequest({ step, by, usage, started, messages }: RequestFacts): ModelRequest {
  const cost = costOf(usage, by.price);
  return {
    step,
    model: by.model,
    ...(messages !== undefined && { messages }),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(cost !== undefined && { cost }),
    milliseconds: performance.now() - started,
  };
}
