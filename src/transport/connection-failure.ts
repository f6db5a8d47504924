import type { Failure } from "./failure.js";
import { ProxyFailure } from "./proxy-tunnel.js";
import { UnrecordedRequest } from "./unrecorded-request.js";

/** Nothing of the request can have reached the service. */
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

/** What went wrong with a connection, from what the HTTP client threw. Pure. */
export function connectionFailure(thrown: unknown): Failure {
  if (thrown instanceof UnrecordedRequest) {
    return { code: "request", message: thrown.message, retryable: false, undelivered: true, cause: thrown };
  }
  if (thrown instanceof ProxyFailure) {
    const { message: text, passing: retryable } = thrown;
    return { code: "network", message: text, retryable, undelivered: true, cause: thrown };
  }
  const { code, message, connecting } = innermost(thrown);
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    const text = `it does not speak TLS (${code}): an address without TLS begins with http://`;
    return { code: "network", message: text, retryable: false, undelivered: true, cause: thrown };
  }
  if (badCertificate.test(code)) {
    const text = `its certificate was not accepted (${code}): check the address and the proxy on the way`;
    return { code: "network", message: text, retryable: false, undelivered: true, cause: thrown };
  }
  const known = connecting && code === "ETIMEDOUT" ? "no answer to the connection" : neverArrived[code];
  const text = known === undefined ? `the connection broke (${code === "" ? message : code})` : `${known} (${code})`;
  return { code: "network", message: text, retryable: true, undelivered: known !== undefined, cause: thrown };
}

interface Reason {
  readonly code: string;
  readonly message: string;
  /** Whether it happened while the connection was being opened. */
  readonly connecting: boolean;
}

/** Node hides the reason in `cause`, or in the first of several attempts to connect. */
function innermost(thrown: unknown): Reason {
  let at = thrown;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    // The error of several attempts has a code, but no message and no system call of its own.
    if (typeof code === "string" && !(at instanceof AggregateError)) {
      return { code, message: at.message, connecting: syscall === "connect" };
    }
    const next: unknown = at instanceof AggregateError ? at.errors[0] : at.cause;
    if (next === undefined) return { code: "", message: at.message, connecting: false };
    at = next;
  }
  return { code: "", message: String(at), connecting: false };
}
