import { serviceCodes, unsupportedModelMessage } from "../../contract/failures.js";
import type { OperationName } from "../../contract/operations.js";
import type { TransportErrorCode } from "../../core/errors.js";
import { type ErrorBody, readErrorBody } from "./error-body.js";
import type { Failure } from "./failure.js";
import { type ResponseHeaders, header, requestIdOf, requestedWaitMs } from "./response-headers.js";

/** A reply that holds an error instead of a result. */
export interface ErrorReply {
  readonly operation: OperationName;
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The body as text, or already parsed. */
  readonly body: string | ErrorBody;
  /** Wall clock, in milliseconds since 1970: `retry-after` may be a date. */
  readonly nowMs: number;
}

/** Describes the failure in an error reply of any known shape. Pure. */
export function serviceFailure({ operation, status: httpStatus, headers, body, nowMs }: ErrorReply): Failure {
  const said = typeof body === "string" ? readErrorBody(body) : body;
  // An error may come with status 200: then the service's own code decides.
  const status = httpStatus < 300 ? (statusOf(said.code) ?? httpStatus) : httpStatus;
  const kind = classify(operation, status, said);
  const advice = header(headers, "x-should-retry");
  const requestId = requestIdOf(headers) ?? /request id: ?(\S+)/i.exec(said.message)?.[1];
  const retryAfterMs = requestedWaitMs({ ...said.headers, ...headers }, nowMs) ?? said.retryAfterMs;
  return {
    ...kind,
    message: said.message === "" ? `status ${httpStatus} without a body` : said.message,
    retryable: advice === "true" || (advice !== "false" && kind.retryable),
    undelivered: status === 429 || status === 503,
    status: httpStatus,
    ...(said.code !== undefined && { serviceCode: said.code }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

type Kind = Pick<Failure, "code" | "retryable" | "minuteWindow" | "maxBatchTexts" | "maxInputTokens">;

function classify(
  operation: OperationName,
  status: number,
  { code = "", message, isDailyQuota = false }: ErrorBody,
): Kind {
  const final = (as: TransportErrorCode): Kind => ({ code: as, retryable: false });
  if (
    code === String(serviceCodes.unsupportedModel) ||
    unsupportedModel.test(code) ||
    message.includes(unsupportedModelMessage) ||
    (modelStatuses.has(status) && namesUnknownModel.test(message))
  ) {
    return final("unsupported-model");
  }
  // The moderation service is down: the only 400 worth a retry.
  if (code.startsWith("ContentSecurityDetectionError")) return { code: "upstream", retryable: true };
  const limits = limitsIn(message);
  if (limits.maxInputTokens !== undefined || contextCodes.has(code) || exceedsContext.test(message)) {
    return { ...final(operation === "chat" ? "context-length" : "too-large"), ...limits };
  }
  const isTooLarge = code === String(serviceCodes.tooLarge) || exceedsBatch.test(message);
  if (status === 413 || isTooLarge || limits.maxBatchTexts !== undefined) {
    return { ...final("too-large"), ...limits };
  }
  if (status === 401) return final("unauthorized");
  if (status === 402 || status === 403) return final("forbidden");
  if (status === 404) return final("not-found");
  if (status === 408) return { code: "timeout", retryable: true };
  // A task that is running cannot be cancelled, however often it is asked.
  if (status === 409 && operation === "cancelVideoTask") return final("refused");
  if (status === 409) return { code: "refused", retryable: true };
  if (status === 429) {
    const spent =
      isDailyQuota || spentCodes.has(code) || /\b[RTI]PD\b|insufficient.quota|(per|\/) ?month/i.test(message);
    const minuteWindow =
      minuteCodes.has(code) ||
      /[RTI]PM|^RATE_(REQUEST|TOKEN)_LIMIT/i.test(code) ||
      /\b[RTI]PM\b|(per|\/)[- ]?minute/i.test(message);
    return { code: "rate-limited", retryable: !spent, ...(minuteWindow && { minuteWindow }) };
  }
  // The backend of text-embeddings-inference failed; Cohere stopped in the middle.
  if (status === 424 || status === 499) return { code: "upstream", retryable: true };
  if (status >= 500) return { code: "upstream", retryable: status !== 501 };
  return final("refused");
}

const unsupportedModel =
  /^(InvalidEndpointOrModel\.NotFound|UnsupportedModel|model_not_found|unknown_model|INPUT_MODEL_NOT_FOUND|DeploymentNotFound)/;

/** Statuses with which services refuse a model in words alone. */
const modelStatuses = new Set([400, 404, 422]);
const namesUnknownModel = /^invalid model\b|\bmodel\b.{0,120}\b(not found|does not exist|is not supported)\b/i;

const contextCodes = new Set(["context_length_exceeded", "OutofContextError", "exceed_context_size_error"]);
const exceedsContext = /exceeds? (the |maximum )?(available )?context (size|length)|^too many tokens(?!: max tokens)/i;
const exceedsBatch = /split into more batches|tokens (in|per submitted) batch|max \d+ tokens per request/i;

/** The quota of the day or of the account is spent: no wait within a call restores it. */
const spentCodes = new Set(["QuotaExceeded", "SetLimitExceeded", "insufficient_quota", "50605", "50606", "50608"]);

const minuteCodes = new Set([String(serviceCodes.requestsPerMinute), String(serviceCodes.tokensPerMinute)]);

const batchLimits = [
  /batch size \d+ ?> ?maximum allowed batch size (\d+)/i,
  /batch size.{0,80}?(?:not (?:be )?(?:larger|more|greater) than|at most|maximum(?: of)?|exceed(?:s)?(?: the)?(?: limit(?: of)?)?) (\d+)/i,
];
const tokenLimits = [
  /must have (?:less than|at most) (\d+) tokens/i,
  /max_seq_len \((\d+)\)/i,
  /context length (?:is|of) (?:only )?(\d+)/i,
  /^too many tokens: .* cannot exceed (\d+)/i,
  /available context size \((\d+) tokens\)/i,
  /exceeding max (\d+) tokens/i,
  /context window of (\d+) tokens/i,
  /too large to process.*batch size: (\d+)/i,
];

/** Reads the limits that an error's text names. */
function limitsIn(message: string): Pick<Failure, "maxBatchTexts" | "maxInputTokens"> {
  const maxBatchTexts = firstNumber(batchLimits, message);
  const maxInputTokens = firstNumber(tokenLimits, message);
  return {
    ...(maxBatchTexts !== undefined && { maxBatchTexts }),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
  };
}

function firstNumber(patterns: readonly RegExp[], text: string): number | undefined {
  const found = patterns.map((pattern) => pattern.exec(text)?.[1]).find((digits) => digits !== undefined);
  return found === undefined ? undefined : Number(found);
}

/** Translates one of the service's own codes to an HTTP status. */
function statusOf(code: string | undefined): number | undefined {
  if (code === undefined || !/^\d+$/.test(code)) return undefined;
  const value = Number(code);
  if (value <= 599) return value;
  if (value === serviceCodes.tooLarge) return 413;
  if (value === serviceCodes.overloaded || value === serviceCodes.busy || value === 50_508) return 503;
  if (value === 50_501 || value === 50_506 || value === 50_509) return 504;
  if (value > 50_600 && value < 50_700) return 429;
  if (value === 50_500 || value === 50_507 || (value >= 60_000 && value < 60_100)) return 500;
  return value >= 30_000 && value < 30_100 ? 403 : undefined;
}
