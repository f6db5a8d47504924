import { serviceCodes, unsupportedModelMessage } from "../contract/failures.js";
import type { OperationName } from "../contract/operations.js";
import type { TransportErrorCode } from "../errors.js";
import { type ErrorBody, readErrorBody } from "./error-body.js";
import type { Failure } from "./failure.js";
import { type Headers, header, requestedWaitMs } from "./wait-headers.js";

/** What a service answered instead of a result. */
export interface Refusal {
  readonly operation: OperationName;
  readonly status: number;
  readonly headers: Headers;
  /** As text, or already read. */
  readonly body: string | ErrorBody;
  /** Wall clock, in milliseconds since 1970: `retry-after` may be a date. */
  readonly nowMs: number;
}

/** One failure from whatever shape of refusal. Pure. */
export function refusal({ operation, status: httpStatus, headers, body, nowMs }: Refusal): Failure {
  const said = typeof body === "string" ? readErrorBody(body) : body;
  // A failure may come with status 200: then the service's own code stands in for it.
  const status = httpStatus < 300 ? (statusOf(said.code) ?? httpStatus) : httpStatus;
  const kind = classify(operation, status, said);
  const asked = header(headers, "x-should-retry");
  const requestId = requestIdOf(headers, said.message);
  const retryAfterMs = requestedWaitMs(headers, nowMs);
  return {
    ...kind,
    message: said.message === "" ? `status ${httpStatus} without a body` : said.message,
    retryable: asked === "true" ? true : asked === "false" ? false : kind.retryable,
    undelivered: status === 429 || status === 503,
    status: httpStatus,
    ...(said.code !== undefined && { serviceCode: said.code }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The id under which the service knows this exchange. */
export function requestIdOf(headers: Headers, message = ""): string | undefined {
  for (const name of ["x-request-id", "x-siliconcloud-trace-id", "x-client-request-id", "x-tt-logid"]) {
    const value = header(headers, name);
    if (value !== undefined && value !== "") return value;
  }
  return /request id: ?(\S+)/i.exec(message)?.[1];
}

type Kind = Pick<Failure, "code" | "retryable" | "minuteWindow" | "maxBatchTexts" | "maxInputTokens">;

function classify(operation: OperationName, status: number, { code = "", message }: ErrorBody): Kind {
  const final = (as: TransportErrorCode): Kind => ({ code: as, retryable: false });
  if (
    code === String(serviceCodes.unsupportedModel) ||
    unsupportedModel.test(code) ||
    message.includes(unsupportedModelMessage)
  ) {
    return final("unsupported-model");
  }
  // The moderation service was down: the one 400 that passes.
  if (code.startsWith("ContentSecurityDetectionError")) return { code: "upstream", retryable: true };
  const limits = limitsIn(message);
  if (limits.maxInputTokens !== undefined || code === "context_length_exceeded" || code === "OutofContextError") {
    return { ...final(operation === "chat" ? "context-length" : "too-large"), ...limits };
  }
  if (status === 413 || code === String(serviceCodes.tooLarge) || limits.maxBatchTexts !== undefined) {
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
    const spent = spentCodes.has(code) || /\b[RTI]PD\b|insufficient.quota/i.test(message);
    const minuteWindow = minuteCodes.has(code) || /[RTI]PM/i.test(code) || /\b[RTI]PM\b|per[- ]minute/i.test(message);
    return { code: "rate-limited", retryable: !spent, ...(minuteWindow && { minuteWindow }) };
  }
  if (status >= 500) return { code: "upstream", retryable: status !== 501 };
  return final("refused");
}

const unsupportedModel = /^(InvalidEndpointOrModel\.NotFound|UnsupportedModel|model_not_found)/;

/** A day's or the account's whole allowance is gone: no wait within a call brings it back. */
const spentCodes = new Set(["QuotaExceeded", "SetLimitExceeded", "insufficient_quota", "50605", "50606", "50608"]);

const minuteCodes = new Set([String(serviceCodes.requestsPerMinute), String(serviceCodes.tokensPerMinute)]);

const batchLimits = [
  /batch size \d+ ?> ?maximum allowed batch size (\d+)/i,
  /batch size.{0,80}?(?:not (?:be )?(?:larger|more|greater) than|at most|maximum(?: of)?|exceed(?:s)?(?: the)?(?: limit(?: of)?)?) (\d+)/i,
];
const tokenLimits = [
  /must have less than (\d+) tokens/i,
  /max_seq_len \((\d+)\)/i,
  /maximum context length (?:is|of) (\d+)/i,
];

/** Limits that a refusal's text names. */
function limitsIn(message: string): Pick<Failure, "maxBatchTexts" | "maxInputTokens"> {
  const maxBatchTexts = firstNumber(batchLimits, message);
  const maxInputTokens = firstNumber(tokenLimits, message);
  return {
    ...(maxBatchTexts !== undefined && { maxBatchTexts }),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
  };
}

function firstNumber(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** The HTTP status that belongs to one of the service's own codes. */
function statusOf(code: string | undefined): number | undefined {
  if (code === undefined || !/^\d+$/.test(code)) return undefined;
  const value = Number(code);
  if (value >= 400 && value <= 599) return value;
  if (value === serviceCodes.tooLarge) return 413;
  if (value === serviceCodes.overloaded || value === serviceCodes.busy || value === 50_508) return 503;
  if (value === 50_501 || value === 50_506 || value === 50_509) return 504;
  if (value > 50_600 && value < 50_700) return 429;
  if (value === 50_500 || value === 50_507 || (value >= 60_000 && value < 60_100)) return 500;
  if (value >= 30_000 && value < 30_100) return 403;
  if (value >= 20_000 && value < 20_100) return 400;
  return undefined;
}
