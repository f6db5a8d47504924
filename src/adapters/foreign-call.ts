import { setTimeout as wait } from "node:timers/promises";
import { CitewellError, TransportError, type TransportErrorCode } from "../core/errors.js";
import type { CallOptions } from "../core/ports.js";
import { unlessAborted } from "../core/stream.js";

/** A call of another library's model on behalf of one of our ports: it ends with the port's call, and fails as ports do. */
export interface ForeignCall {
  /** Aborts with the caller's signal, and when the time is up. */
  readonly signal: AbortSignal;
  /** Maps a thrown value to the error to throw, an abort to the caller's own reason. Reports the failed attempt. */
  readonly failure: (thrown: unknown) => unknown;
  /** Waits for the caller's `onFailedAttempt` before the next attempt. */
  readonly mayRepeat: () => void | Promise<void>;
}

const maxTimerMs = 2 ** 31 - 1;

/** Attempts at a call that fails transiently, for libraries that leave retries to their caller. */
export const maxAttempts = 3;

export function foreignCall(
  operation: string,
  { signal, deadlineMs = Infinity, onFailedAttempt }: CallOptions = {},
): ForeignCall {
  const overdue = deadlineMs < maxTimerMs ? AbortSignal.timeout(Math.max(0, Math.ceil(deadlineMs))) : undefined;
  const ends = [signal, overdue].filter((reason) => reason !== undefined);
  let mayRepeat: void | Promise<void>;
  return {
    signal: AbortSignal.any(ends),
    mayRepeat: () => mayRepeat,
    failure: (thrown) => {
      if (signal?.aborted) return signal.reason;
      const error = overdue?.aborted
        ? new TransportError("timeout", `The call took more than ${deadlineMs} ms`, { operation, cause: thrown })
        : transportError(operation, thrown);
      if (error instanceof TransportError) {
        const { code, status } = error;
        mayRepeat = onFailedAttempt?.({ code, ...(status !== undefined && { status }) });
      }
      return error;
    },
  };
}

/** Sends a call with retries: up to `times` attempts, with growing random waits between. */
export async function attempt<T>(
  { signal, failure, mayRepeat }: ForeignCall,
  send: (signal: AbortSignal) => PromiseLike<T>,
  times = 1,
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      signal.throwIfAborted();
      return await unlessAborted(Promise.resolve(send(signal)), signal);
    } catch (thrown) {
      const error = failure(thrown);
      if (!(error instanceof TransportError && error.retryable) || attempts >= times) throw error;
      const waitMs = error.retryAfterMs ?? Math.random() * 250 * 2 ** attempts;
      // The next attempt throws the abort.
      await wait(waitMs, undefined, { signal }).catch(() => {});
      await mayRepeat();
    }
  }
}

/** The fields by which the AI SDK and the clients below LangChain describe an HTTP failure. */
interface HttpFailure {
  readonly message?: unknown;
  /** Status field of the AI SDK. */
  readonly statusCode?: unknown;
  /** Status field of most vendors' clients. */
  readonly status?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** An error with neither a status nor the look of a lost connection is no service failure, and is returned unchanged. */
function transportError(operation: string, thrown: unknown): unknown {
  if (thrown instanceof CitewellError || typeof thrown !== "object" || thrown === null) return thrown;
  const { message, statusCode, status = statusCode, isRetryable, responseHeaders } = thrown as HttpFailure;
  const said = String(message);
  if (typeof status !== "number") {
    const isLost = isRetryable === true || /connect|fetch failed|ECONN|ENOTFOUND|socket/iu.test(said);
    return isLost ? new TransportError("network", said, { operation, retryable: true, cause: thrown }) : thrown;
  }
  const seconds = Number(responseHeaders?.["retry-after"] ?? NaN);
  return new TransportError(codeOf(status), said, {
    operation,
    status,
    retryable: typeof isRetryable === "boolean" ? isRetryable : status === 429 || status >= 500,
    ...(seconds >= 0 && { retryAfterMs: seconds * 1000 }),
    cause: thrown,
  });
}

const codes: Readonly<Record<number, TransportErrorCode>> = {
  401: "unauthorized",
  402: "forbidden",
  403: "forbidden",
  404: "not-found",
  408: "timeout",
  413: "too-large",
  429: "rate-limited",
};

function codeOf(status: number): TransportErrorCode {
  return codes[status] ?? (status >= 500 ? "upstream" : "refused");
}
