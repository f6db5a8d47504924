import type { RunContext } from "../pipeline.js";
import type { CallOptions } from "../ports.js";

/** What is left of the run's time, as the `deadlineMs` of a call; nothing when the run has no deadline. At least 1. */
export function remainingTime(
  { deadlineAt }: Pick<RunContext, "deadlineAt">,
  reserveMs = 0,
): Pick<CallOptions, "deadlineMs"> {
  if (deadlineAt === undefined) return {};
  return { deadlineMs: Math.max(1, Math.floor(deadlineAt - performance.now() - reserveMs)) };
}
