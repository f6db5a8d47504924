import type { FailedAttempt } from "../types.js";

/** The failed attempts at a request that nobody waits for any more: the last was under way, and may not have been told yet. */
export function givenUp(failedAttempts: readonly FailedAttempt[]): readonly FailedAttempt[] {
  return failedAttempts.at(-1)?.code === "aborted" ? failedAttempts : [...failedAttempts, { code: "aborted" }];
}
