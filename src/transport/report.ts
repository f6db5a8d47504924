import type { OperationName } from "../contract/operations.js";
import { taskRetentionDays } from "../contract/video-tasks.js";
import { TransportError } from "../errors.js";
import type { Failure } from "./failure.js";
import type { Secrecy } from "./secrecy.js";

export interface Reported {
  readonly operation: OperationName;
  readonly baseUrl: string;
  /** Of the operation, below `baseUrl`. */
  readonly path: string;
  readonly hasKey: boolean;
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
function sentence(failure: Failure, { baseUrl, path, hasKey, model, operation }: Reported): string {
  const { code, message, status, serviceCode, requestId, retryAfterMs, maxBatchTexts, maxInputTokens } = failure;
  const marks = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(serviceCode === undefined ? [] : [`code ${serviceCode}`]),
    ...(requestId === undefined ? [] : [`request id ${requestId}`]),
  ];
  const said = marks.length > 0 ? `${message} (${marks.join(", ")})` : message;
  if (code === "unauthorized" && !hasKey) {
    return `${baseUrl} wants a key, and none was given: ${said}. Pass it as createTransport({ apiKey })`;
  }
  if (code === "unauthorized") {
    return `the key was not accepted by ${baseUrl}: ${said}. A key belongs to one data center: check the key, and that baseUrl is the address of its own data center`;
  }
  if (code === "unsupported-model")
    return `${model} is not a model that ${baseUrl} publishes for ${operation}: ${said}. Where the service lists its models, listModels() tells what it has`;
  if (code === "not-found" && (operation === "videoTask" || operation === "cancelVideoTask")) {
    return `there is no such task at ${baseUrl}: ${said}. Its record is removed ${taskRetentionDays} days after creation; a younger one may belong to another account`;
  }
  if (code === "not-found")
    return `${said}. Check baseUrl: the call went to ${baseUrl}${path}, which is baseUrl with the operation's path behind it`;
  if (code === "too-large" && maxInputTokens !== undefined) {
    return `${said}. Cut each text to at most ${maxInputTokens} tokens as the service counts them; chunk({ for: embedder }) does`;
  }
  if (code === "too-large" && maxBatchTexts !== undefined) {
    return `${said}. Send at most ${maxBatchTexts} texts in a request; embedder({ batchSize }) splits longer lists`;
  }
  if (code === "context-length") {
    return `${said}. Shorten the messages or leave some out: they and the reply share the model's context`;
  }
  if (code === "network") {
    return `cannot reach ${baseUrl}: ${said}. Check that the address is right, that the service is running, and any proxy or firewall on the way`;
  }
  if (code === "rate-limited" && retryAfterMs !== undefined) {
    return `${said}. The service asks to wait ${Math.ceil(retryAfterMs / 1000)} s: try again then, or allow the call a longer deadlineMs`;
  }
  return said;
}
