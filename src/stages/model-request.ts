import { costOf, type Price } from "../price.js";
import type { FailedAttempt, ModelRequest, Usage } from "../types.js";

export interface RequestFacts {
  readonly step: string;
  /** The model that was asked. */
  readonly by: { readonly model: string; readonly price?: Price };
  /** Absent where no attempt was answered. */
  readonly usage?: Usage | undefined;
  readonly failedAttempts?: readonly FailedAttempt[];
  /** When it was asked, as `performance.now()` counts. */
  readonly started: number;
  /** Of a chat: how many messages were sent. */
  readonly messages?: number;
}

/** One request, for the account of an answer. Made when it has ended. */
export function modelRequest({
  step,
  by,
  usage: answered,
  started,
  messages,
  failedAttempts = [],
}: RequestFacts): ModelRequest {
  const usage = answered ?? { inputTokens: 0, outputTokens: 0 };
  const cost = costOf(usage, by.price);
  return {
    step,
    model: by.model,
    ...(messages !== undefined && { messages }),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(cost !== undefined && { cost }),
    milliseconds: performance.now() - started,
    ...(failedAttempts.length > 0 && { failedAttempts: [...failedAttempts] }),
    ...(!answered && { unanswered: true as const }),
  };
}
