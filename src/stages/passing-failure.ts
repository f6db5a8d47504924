import { TransportError, type TransportErrorCode } from "../errors.js";

/** Failures of the service or of the way to it. Those of the request or the account say that something must be mended. */
const passing: ReadonlySet<TransportErrorCode> = new Set([
  "rate-limited",
  "upstream",
  "network",
  "timeout",
  "reply",
  "truncated",
  "ambiguous",
]);

/** Whether a step that only makes things better may be left out for this error. */
export function isPassing(error: unknown): error is TransportError {
  return error instanceof TransportError && (error.retryable || passing.has(error.code));
}
