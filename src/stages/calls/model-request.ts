import { costOf, type Price, type FailedAttempt, type ModelRequest, type Usage } from "../../core/types.js";

export interface RequestFacts {
  readonly step: string;
  /** The model that was asked. */
  readonly by: { readonly model: string; readonly price?: Price };
  /** Whether an attempt was answered. Default: whether there is a usage. */
  readonly answered?: boolean;
  /** Absent when no attempt was answered, or the answer came without a count. */
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
  usage: counted,
  answered = counted !== undefined,
  started,
  messages,
  failedAttempts = [],
}: RequestFacts): ModelRequest {
  const usage = counted ?? (answered ? undefined : noUsage);
  const cost = usage && costOf(usage, by.price);
  return {
    step,
    model: by.model,
    ...(messages !== undefined && { messages }),
    ...(usage && addUsage(noUsage, usage)),
    ...(cost !== undefined && { cost }),
    milliseconds: performance.now() - started,
    ...(failedAttempts.length > 0 && { failedAttempts: [...failedAttempts] }),
    ...(!answered && { unanswered: true as const }),
  };
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** The usage of a model that writes nothing. */
export function inputUsage(tokens: number | undefined): Usage | undefined {
  return tokens === undefined ? undefined : { inputTokens: tokens, outputTokens: 0 };
}

/** Adds token counts as far as they are known. */
export function addUsage(one: Usage, other: Partial<Usage> | undefined): Usage;
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined;
export function addUsage(one: Usage | undefined, other: Partial<Usage> | undefined): Usage | undefined {
  if (!one && !other) return undefined;
  const sum = (field: keyof Usage) => (one?.[field] ?? 0) + (other?.[field] ?? 0);
  const isKnown = (field: keyof Usage) => one?.[field] !== undefined || other?.[field] !== undefined;
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    ...(isKnown("reasoningTokens") && { reasoningTokens: sum("reasoningTokens") }),
    ...(isKnown("cachedTokens") && { cachedTokens: sum("cachedTokens") }),
  };
}

/** The failed attempts at an abandoned request. The attempt under way then may not have been reported, so it is added. */
export function withAbortedAttempt(failedAttempts: readonly FailedAttempt[]): readonly FailedAttempt[] {
  return failedAttempts.at(-1)?.code === "aborted" ? failedAttempts : [...failedAttempts, { code: "aborted" }];
}
