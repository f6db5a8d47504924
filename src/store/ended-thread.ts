import { StoreError } from "../errors.js";

/** The error of calls to a thread of the store that has ended. */
export function endedThread(whose: string): (reason: string, cause?: Error) => StoreError {
  return (reason, cause) =>
    new StoreError(
      "closed",
      `${whose} has ended (${reason}). Close the store and open it again: what was acknowledged is kept`,
      cause && { cause },
    );
}
