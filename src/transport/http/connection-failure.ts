import type { Failure } from "../failures/failure.js";

/** Codes that mean that nothing of the request can have reached the service. */
const neverArrived: Readonly<Record<string, string>> = {
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name server did not answer",
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  UND_ERR_CONNECT_TIMEOUT: "no answer to the connection",
};

const badCertificate =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)|certificate/;

/** Describes what went wrong with a connection, from what the HTTP client threw. Pure. */
export function connectionFailure(thrown: unknown): Failure {
  const { code, message, connecting } = innermost(thrown);
  const failure = (text: string, retryable: boolean, undelivered: boolean): Failure => ({
    code: "network",
    message: text,
    retryable,
    undelivered,
    cause: thrown,
  });
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    return failure(`it does not speak TLS (${code}): an address without TLS begins with http://`, false, true);
  }
  if (badCertificate.test(code)) {
    const text = `its certificate was not accepted (${code}): check the address and the proxy on the way`;
    return failure(text, false, true);
  }
  const known = connecting && code === "ETIMEDOUT" ? "no answer to the connection" : neverArrived[code];
  if (known !== undefined) return failure(`${known} (${code})`, true, true);
  return failure(`the connection broke (${code === "" ? message : code})`, true, false);
}

interface Reason {
  readonly code: string;
  readonly message: string;
  /** Whether it happened while the connection was being opened. */
  readonly connecting: boolean;
}

/** Node hides the reason in `cause`, or in the first of several connection attempts. */
function innermost(thrown: unknown): Reason {
  let index = thrown;
  for (let depth = 0; depth < 8 && index instanceof Error; depth++) {
    const { code, syscall } = index as NodeJS.ErrnoException;
    // The error of several attempts has a code, but no message and no system call of its own.
    if (typeof code === "string" && !(index instanceof AggregateError)) {
      return { code, message: index.message, connecting: syscall === "connect" };
    }
    const next: unknown = index instanceof AggregateError ? index.errors[0] : index.cause;
    if (next === undefined) return { code: "", message: index.message, connecting: false };
    index = next;
  }
  return { code: "", message: String(index), connecting: false };
}
