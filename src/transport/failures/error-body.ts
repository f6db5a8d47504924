import { stripVTControlCharacters } from "node:util";
import { isRecord } from "../../core/json.js";
import { type ResponseHeaders, durationMs } from "./response-headers.js";

/** The content of an error body of any known shape. */
export interface ErrorBody {
  readonly message: string;
  /** The service's own code, as it wrote it; the type of error when there is no code. */
  readonly code?: string;
  /** Wait that the service asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Headers of rate limits, when a gateway passes them on in the body. */
  readonly headers?: ResponseHeaders;
  /** Whether the daily quota is spent. */
  readonly isDailyQuota?: boolean;
}

const maxMessageCharacters = 500;

/**
 * Reads `{code, message}`, `{message}`, a bare JSON string, `{error: {code, message, type}}`, `{error, error_type}`,
 * `{errors: {message}}`, `{detail}`, Google's list `[{error: {…}}]`, and plain text or HTML.
 */
export function readErrorBody(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === "") return { message: "" };
  try {
    return errorIn(JSON.parse(trimmed)) ?? { message: short(trimmed) };
  } catch {
    return { message: short(plainText(trimmed)) };
  }
}

/** Finds the error in a parsed body; `undefined` when the body does not have the shape of one. */
export function errorIn(body: unknown): ErrorBody | undefined {
  if (typeof body === "string") return { message: short(body) };
  // Google puts its error into a list, for a reply that would be one: a stream.
  if (Array.isArray(body)) return isRecord(body[0]) && isRecord(body[0]["error"]) ? errorIn(body[0]) : undefined;
  if (!isRecord(body)) return undefined;
  const { error, errors, message, detail } = body;
  if (isRecord(error)) {
    return {
      ...entry(error["message"], error["code"] ?? error["type"]),
      ...googleDetails(error),
      ...gatewayHeaders(error),
    };
  }
  if (typeof error === "string") return entry(error, body["error_type"] ?? body["code"]);
  if (isRecord(errors)) return entry(errors["message"], errors["code"] ?? body["code"]);
  if (isRecord(message) && message["detail"] !== undefined) {
    return entry(detailText(message["detail"]), body["code"] ?? body["type"]);
  }
  if (typeof message === "string") return entry(message, body["code"] ?? body["type"]);
  if (detail !== undefined && detail !== null) return entry(detailText(detail), body["code"]);
  return undefined;
}

/**
 * The wait and the kind of quota in the details of Google's errors.
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
 */
function googleDetails({
  details,
}: Readonly<Record<string, unknown>>): Pick<ErrorBody, "retryAfterMs" | "isDailyQuota"> {
  const known = Array.isArray(details) ? details.filter(isRecord) : [];
  const [wait] = known.flatMap(({ retryDelay }) =>
    typeof retryDelay === "string" ? (durationMs(retryDelay) ?? []) : [],
  );
  const quotas = known.flatMap(({ violations }) => (Array.isArray(violations) ? violations.filter(isRecord) : []));
  const isDaily = quotas.some(({ quotaId }) => typeof quotaId === "string" && /PerDay/.test(quotaId));
  return { ...(wait !== undefined && { retryAfterMs: wait }), ...(isDaily && { isDailyQuota: true }) };
}

/** OpenRouter's errors have the headers of the limit that was reached. https://openrouter.ai/docs/api-reference/limits */
function gatewayHeaders({ metadata }: Readonly<Record<string, unknown>>): Pick<ErrorBody, "headers"> {
  const given = isRecord(metadata) && isRecord(metadata["headers"]) ? Object.entries(metadata["headers"]) : [];
  if (given.length === 0) return {};
  return { headers: Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)])) };
}

function entry(message: unknown, code: unknown): ErrorBody {
  const known = typeof code === "number" || (typeof code === "string" && code !== "");
  const text = typeof message === "string" ? message : (JSON.stringify(message) ?? "");
  return { message: short(text), ...(known && { code: String(code) }) };
}

/** `detail` is a sentence, or a list of problems each with its place. */
function detailText(detail: unknown): string {
  if (!Array.isArray(detail)) return typeof detail === "string" ? detail : JSON.stringify(detail);
  return detail
    .map((problem: unknown) => {
      if (!isRecord(problem) || typeof problem["msg"] !== "string") return JSON.stringify(problem);
      const place = Array.isArray(problem["loc"]) ? `${problem["loc"].join(".")}: ` : "";
      return place + problem["msg"];
    })
    .join("; ");
}

function plainText(text: string): string {
  if (!text.startsWith("<")) return text;
  return text.replace(/<(script|style)\b[^]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
}

/** One line without control characters, which would reach the terminal that the error is shown on. */
function short(text: string): string {
  const oneLine = stripVTControlCharacters(text)
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .trim();
  return oneLine.length > maxMessageCharacters ? `${oneLine.slice(0, maxMessageCharacters)}…` : oneLine;
}
