import { costOf, type Price, type FailedAttempt, type ModelRequest, type Usage } from "../../core/types.js";

export interface RequestFacts {
  readonly step: string;
  /** The model that was asked. */
  readonly by: { readonly model: string; readonly price?: Price };
  /** Absent when no attempt was answered. */
  readonly usage?: Usage | undefined;
  readonly failedAttempts?: readonly FailedAttempt[];
  /** When the request began, as `performance.now()` counts. */
  readonly started: number;
  /** The number of messages that a chat request sent. */
  readonly messages?: number;
}

/** Describes a request that has ended, for the account of an answer. */
export function modelRequest({
  step,
  by,
  usage: answered,
  started,
  messages,
  failedAttempts = [],
}: RequestFacts): ModelRequest {
  const { inputTokens, outputTokens } = addUsage(answered, undefined);
  const cost = costOf({ inputTokens, outputTokens }, by.price);
  return {
    step,
    model: by.model,
    ...(messages !== undefined && { messages }),
    inputTokens,
    outputTokens,
    ...(cost !== undefined && { cost }),
    milliseconds: performance.now() - started,
    ...(failedAttempts.length > 0 && { failedAttempts: [...failedAttempts] }),
    ...(!answered && { unanswered: true as const }),
  };
}

/** Adds token counts; an absent usage counts as zero. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage {
  return {
    inputTokens: (one?.inputTokens ?? 0) + (other?.inputTokens ?? 0),
    outputTokens: (one?.outputTokens ?? 0) + (other?.outputTokens ?? 0),
  };
}

/** The failed attempts at an abandoned request. The attempt under way then may not have been reported, so it is added. */
export function withAbortedAttempt(failedAttempts: readonly FailedAttempt[]): readonly FailedAttempt[] {
  return failedAttempts.at(-1)?.code === "aborted" ? failedAttempts : [...failedAttempts, { code: "aborted" }];
}
