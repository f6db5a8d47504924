import { asError, CitewellError, TransportError, type TransportErrorCode } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { CallOptions, ChatModel, ChatRequest } from "../../core/ports.js";
import { unlessAborted } from "../../core/stream.js";
import type { FailedAttempt, Usage } from "../../core/types.js";
import { chatEvents } from "./chat-events.js";
import { withAbortedAttempt } from "./model-request.js";

/** The run's remaining time as the `deadlineMs` of a call, at least 1; empty when the run has no deadline. */
export function remainingTime({ deadlineAt }: Pick<RunContext, "deadlineAt">): Pick<CallOptions, "deadlineMs"> {
  return deadlineAt === undefined ? {} : { deadlineMs: Math.max(1, Math.floor(deadlineAt - performance.now())) };
}

/** How long a call may take that the run can do without. */
export interface StepTime {
  /** Default: as long as the run has time. */
  readonly timeoutMs?: number;
  /** Reserved for later stages when the run has a deadline. */
  readonly reserveMs: number;
}

type OptionalReply<T> = { readonly failedAttempts: readonly FailedAttempt[] } & (
  | { readonly value: T }
  /** Why there is no value, for the trace. */
  | { readonly problem: string }
);

/**
 * Makes an optional call. A service that fails or takes too long is a `problem`, not an error.
 *
 * @param canGoOn whether a failure is a problem, too. Default: where the next call may not meet it.
 * @throws all other failures: a key or model that the service rejects, a request that it refuses, a bug.
 */
export async function optionalCall<T>(
  model: string,
  { timeoutMs = Infinity, reserveMs }: StepTime,
  { signal, deadlineAt = Infinity }: Pick<RunContext, "signal" | "deadlineAt">,
  call: (options: CallOptions & { readonly signal: AbortSignal }) => Promise<T>,
  canGoOn: (thrown: unknown) => boolean = isTransient,
): Promise<OptionalReply<T>> {
  signal.throwIfAborted();
  const failedAttempts: FailedAttempt[] = [];
  const deadlineMs = Math.floor(Math.min(timeoutMs, deadlineAt - performance.now() - reserveMs));
  if (deadlineMs < 1) return { problem: "no time left", failedAttempts };
  // A model that ignores its deadline must not use up the time reserved for later stages.
  const overdue = deadlineMs < Infinity ? AbortSignal.timeout(deadlineMs) : undefined;
  const either = overdue ? AbortSignal.any([signal, overdue]) : signal;
  const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
  try {
    const options = { signal: either, onFailedAttempt, ...(overdue && { deadlineMs }) };
    return { value: await unlessAborted(call(options), either), failedAttempts };
  } catch (error) {
    signal.throwIfAborted();
    if (overdue?.aborted) {
      return {
        problem: `${model} took more than ${deadlineMs} ms`,
        failedAttempts: withAbortedAttempt(failedAttempts),
      };
    }
    if (!canGoOn(error)) throw error;
    const { name, message } = asError(error);
    return {
      problem: `${model} failed (${error instanceof CitewellError ? error.code : name}: ${message})`,
      failedAttempts,
    };
  }
}

export type ShortReply = {
  readonly failedAttempts: readonly FailedAttempt[];
  readonly answered: boolean;
  readonly usage?: Usage | undefined;
} & ({ readonly text: string } | { readonly problem: string });

/** Asks a model for one short reply that the run can do without. Throws as `optionalCall` does. */
export async function askOnce(
  model: ChatModel,
  request: ChatRequest,
  time: StepTime,
  context: RunContext,
): Promise<ShortReply> {
  const reply = await optionalCall(model.model, time, context, async (call) => {
    let text = "";
    for await (const event of chatEvents(model, request, call)) {
      if (event.type === "text-delta") text += event.text;
      if (event.type === "finish") return { text, reason: event.reason, usage: event.usage };
    }
    throw new TransportError("truncated", `${model.model} ended its stream without a finish event`);
  });
  if ("problem" in reply) return { ...reply, answered: false };
  const { failedAttempts, value } = reply;
  const { text, reason, usage } = value;
  const facts = { answered: true, usage, failedAttempts };
  if (reason === "length") return { problem: "the reply was cut off at its token limit", ...facts };
  if (text.trim() === "") return { problem: "the model said nothing", ...facts };
  return { text, ...facts };
}

/** Failures of the service or the network, which the next call may not meet. All others need a fix. */
const transientCodes: ReadonlySet<TransportErrorCode> = new Set([
  "rate-limited",
  "upstream",
  "network",
  "timeout",
  "reply",
  "truncated",
  "ambiguous",
]);

function isTransient(error: unknown): boolean {
  return error instanceof TransportError && (error.retryable || transientCodes.has(error.code));
}
