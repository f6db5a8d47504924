import type { OperationName } from "../../contract/operations.js";
import type { ServiceName } from "../../dialects/services.js";
import { taskRetentionDays } from "../../contract/video-tasks.js";
import { TransportError, type TransportErrorCode } from "../../core/errors.js";
import type { Failure } from "./failure.js";
import type { Secrecy } from "./secrecy.js";

/** The call that a failure ended. */
export interface FailedCall {
  readonly operation: OperationName;
  readonly service: ServiceName;
  readonly baseUrl: string;
  /** Path of the operation below `baseUrl`, as it was asked for. */
  readonly path: string;
  readonly hasKey: boolean;
  readonly model: string;
  /** The video task that the call was about, if any. */
  readonly taskId?: string | undefined;
  readonly attempts: number;
  readonly secrecy: Secrecy;
}

/** Makes the error that the caller sees from the failure that ended a call. */
export function transportError(failure: Failure, call: FailedCall): TransportError {
  const { operation, attempts, secrecy, taskId } = call;
  const {
    code,
    message: _,
    undelivered,
    minuteWindow: __,
    serviceCode,
    requestId,
    partialText,
    cause,
    ...rest
  } = failure;
  const redacted = (text: string | undefined) => (text === undefined ? undefined : secrecy.redact(text));
  const details = {
    ...rest,
    operation,
    attempts,
    taskId,
    serviceCode: redacted(serviceCode),
    requestId: redacted(requestId),
    partialText: redacted(partialText),
    cause: cause === undefined ? undefined : secrecy.safeCause(cause),
  };
  const times = attempts > 1 ? ` after ${attempts} attempts` : "";
  // Only the creation of a video costs money when it is sent twice.
  const isSafe = operation === "createVideoTask" && undelivered && code !== "ambiguous";
  const advice = isSafe ? ". No task was created, and creating it again is safe" : "";
  const what = taskId === undefined ? operation : `${operation} of ${secrecy.redact(taskId)}`;
  const message = `${what} failed${times}: ${secrecy.redact(sentence(failure, call))}${advice}`;
  return new TransportError(code, message, details);
}

/** Says what happened and what to do about it. */
function sentence(failure: Failure, { service, baseUrl, path, hasKey, model, operation }: FailedCall): string {
  const { code, message, status, serviceCode, requestId, retryAfterMs, maxBatchTexts, maxInputTokens } = failure;
  const marks = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(serviceCode === undefined ? [] : [`code ${serviceCode}`]),
    ...(requestId === undefined ? [] : [`request id ${requestId}`]),
  ];
  const said = marks.length > 0 ? `${message} (${marks.join(", ")})` : message;
  if (code === "unauthorized" && !hasKey) {
    return `${baseUrl} requires a key, and none was given: ${said}. Pass it as createTransport({ apiKey })`;
  }
  if (code === "unauthorized") {
    const belongs =
      service === "contract"
        ? "A key belongs to one data center: check the key, and that baseUrl is the address of its own data center"
        : `Check that it is a key of this service, and that service is right (${service})`;
    return `the key was not accepted by ${baseUrl}: ${said}. ${belongs}`;
  }
  if (code === "unsupported-model") {
    return `${model} is not a model that ${baseUrl} publishes for ${operation}: ${said}. Where the service lists its models, listModels() tells what it has`;
  }
  if (code === "not-found" && (operation === "videoTask" || operation === "cancelVideoTask")) {
    return `there is no such task at ${baseUrl}: ${said}. Its record is removed ${taskRetentionDays} days after creation; a younger one may belong to another account`;
  }
  if (code === "network") {
    return `cannot reach ${baseUrl}: ${said}. Check that the address is right, that the service is running, and any proxy or firewall on the way`;
  }
  const advice: Partial<Record<TransportErrorCode, string | false>> = {
    "not-found":
      `Check baseUrl: the call went to ${baseUrl}${path}, which is baseUrl with the path behind it that the service ` +
      `${service} has for ${operation}. createTransport({ service }) names another kind of service, { paths: { ${operation} } } another path`,
    "too-large":
      maxInputTokens === undefined
        ? maxBatchTexts !== undefined &&
          `Send at most ${maxBatchTexts} texts in a request; embedder({ batchSize }) splits longer lists`
        : `Cut each text to at most ${maxInputTokens} tokens as the service counts them; chunk({ for: embedder }) does`,
    "context-length": "Shorten the messages or leave some out: they and the reply share the model's context",
    "rate-limited":
      retryAfterMs !== undefined &&
      `The service asks to wait ${Math.ceil(retryAfterMs / 1000)} s: try again then, or allow the call more time`,
  };
  return advice[code] ? `${said}. ${advice[code]}` : said;
}
