import { isRecord } from "../../core/json.js";

/** The content of an error body of any known shape. */
export interface ErrorBody {
  readonly message: string;
  /** The service's own code, as it wrote it; the type of error when there is no code. */
  readonly code?: string;
}

const maxMessageCharacters = 500;

/**
 * Reads `{code, message}`, `{message}`, a bare JSON string, `{error: {code, message, type}}`, `{error, error_type}`,
 * `{errors: {message}}`, `{detail}` and plain text or HTML.
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
  if (!isRecord(body)) return undefined;
  const { error, errors, message, detail } = body;
  if (isRecord(error)) return entry(error["message"], error["code"] ?? error["type"]);
  if (typeof error === "string") return entry(error, body["error_type"] ?? body["code"]);
  if (isRecord(errors)) return entry(errors["message"], errors["code"] ?? body["code"]);
  if (isRecord(message) && message["detail"] !== undefined) {
    return entry(detailText(message["detail"]), body["code"] ?? body["type"]);
  }
  if (typeof message === "string") return entry(message, body["code"] ?? body["type"]);
  if (detail !== undefined && detail !== null) return entry(detailText(detail), body["code"]);
  return undefined;
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

function short(text: string): string {
  const oneLine = text.replace(/\s+/g, " ").trim();
  return oneLine.length > maxMessageCharacters ? `${oneLine.slice(0, maxMessageCharacters)}…` : oneLine;
}
