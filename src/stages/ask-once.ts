import { TransportError } from "../errors.js";
import type { RunContext } from "../pipeline.js";
import type { ChatModel, ChatRequest } from "../ports.js";
import type { FailedAttempt, Usage } from "../types.js";
import { givenUp } from "./given-up.js";
import { isPassing } from "./passing-failure.js";
import { untilAborted } from "../stream.js";

/** How long a step that only makes a search better may take. */
export interface StepTime {
  readonly timeoutMs: number;
  /** Left to the stages behind when the run has a deadline. */
  readonly reserveMs: number;
}

export type Asked = { readonly failedAttempts?: readonly FailedAttempt[] } & (
  | { readonly text: string; readonly usage: Usage }
  /** Why there is no text, for the trace. */
  | { readonly problem: string; readonly usage?: Usage }
);

/**
 * One short request. A service that fails or takes too long is a `problem`, not an error: what asks here can do without.
 *
 * @throws what must be mended: a key or a model that the service does not accept, a request it refuses, a defect.
 */
export async function askOnce(
  model: ChatModel,
  request: ChatRequest,
  { timeoutMs, reserveMs }: StepTime,
  { signal, deadlineAt = Infinity }: RunContext,
): Promise<Asked> {
  signal.throwIfAborted();
  const deadlineMs = Math.floor(Math.min(timeoutMs, deadlineAt - performance.now() - reserveMs));
  if (deadlineMs < 1) return { problem: "no time left" };
  const late = AbortSignal.timeout(deadlineMs);
  const ending = AbortSignal.any([signal, late]);
  const failedAttempts: FailedAttempt[] = [];
  const call = {
    signal: ending,
    deadlineMs,
    onFailedAttempt: (attempt: FailedAttempt) => void failedAttempts.push(attempt),
  };
  let text = "";
  try {
    for await (const event of untilAborted(model.stream(request, call), ending)) {
      if (event.type === "text-delta") text += event.text;
      if (event.type !== "finish") continue;
      const { usage, reason } = event;
      if (reason === "length") return { problem: "the reply was cut by its limit", usage, failedAttempts };
      if (text.trim() === "") return { problem: "the model said nothing", usage, failedAttempts };
      return { text, usage, failedAttempts };
    }
    throw new TransportError("truncated", `${model.model} stopped without saying that it was finished`);
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) {
      return { problem: `${model.model} took more than ${deadlineMs} ms`, failedAttempts: givenUp(failedAttempts) };
    }
    if (!isPassing(error)) throw error;
    return { problem: `${model.model} failed (${error.code}: ${error.message})`, failedAttempts };
  }
}
