import type { OperationName } from "../contract/operations.js";
import { taskRetentionDays } from "../contract/video-tasks.js";
import { TransportError } from "../errors.js";
import type { Failure } from "./failure.js";
import type { Secrecy } from "./secrecy.js";

export interface Reported {
  readonly operation: OperationName;
  readonly baseUrl: string;
  readonly model: string;
  readonly attempts: number;
  readonly secrecy: Secrecy;
}

/** The error that a caller sees for the failure that ended a call. */
export function transportError(failure: Failure, reported: Reported): TransportError {
  const { operation, attempts, secrecy } = reported;
  const times = attempts > 1 ? ` after ${attempts} attempts` : "";
  const { status, serviceCode, requestId, retryAfterMs, maxBatchTexts, maxInputTokens, partialText, cause } = failure;
  const shown = (text: string | undefined) => (text === undefined ? undefined : secrecy.redact(text));
  const details = {
    operation,
    attempts,
    retryable: failure.retryable,
    status,
    retryAfterMs,
    maxBatchTexts,
    maxInputTokens,
    serviceCode: shown(serviceCode),
    requestId: shown(requestId),
    partialText: shown(partialText),
    cause: cause === undefined ? undefined : secrecy.safeCause(cause),
  };
  // The one operation of which it matters.
  const spared = operation === "createVideoTask" && failure.undelivered && failure.code !== "ambiguous";
  const kept = spared ? ". No task was created, and creating it again is safe" : "";
  const message = `${operation} failed${times}: ${secrecy.redact(sentence(failure, reported))}${kept}`;
  return new TransportError(failure.code, message, details);
}

/** What happened and what to do about it. */
function sentence(failure: Failure, { baseUrl, model, operation }: Reported): string {
  const { code, message, status, serviceCode, requestId, retryAfterMs } = failure;
  const marks = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(serviceCode === undefined ? [] : [`code ${serviceCode}`]),
    ...(requestId === undefined ? [] : [`request id ${requestId}`]),
  ];
  const said = marks.length > 0 ? `${message} (${marks.join(", ")})` : message;
  if (code === "unauthorized") {
    return `the key was not accepted by ${baseUrl}: ${said}. A key belongs to one data center: check the key, and that baseUrl is the address of its own data center`;
  }
  if (code === "unsupported-model") return `${model} is not a model that ${baseUrl} publishes: ${said}`;
  if (code === "not-found" && (operation === "videoTask" || operation === "cancelVideoTask")) {
    return `there is no such task at ${baseUrl}: ${said}. Its record is removed ${taskRetentionDays} days after creation; a younger one may belong to another account`;
  }
  if (code === "not-found") return `${said}. Check baseUrl: it is ${baseUrl}, the path of the operation is added to it`;
  if (code === "network") {
    return `cannot reach ${baseUrl}: ${said}. Check that the address is right, that the service is running, and any proxy or firewall on the way`;
  }
  if (code === "rate-limited" && retryAfterMs !== undefined) {
    return `${said}. The service asks to wait ${Math.ceil(retryAfterMs / 1000)} s: try again then, or allow the call a longer deadlineMs`;
  }
  return said;
}
