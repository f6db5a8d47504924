import { createHash, timingSafeEqual } from "node:crypto";
import { isRecord } from "../../core/json.js";
import { type BodyProblem, readBody } from "../../network/request-body.js";
import { invalidRequest, RequestFailure } from "../failure/request-failure.js";

/** The key of who sends `Authorization: Bearer <key>` with one of the keys; refuses all others with 401. */
export function authorizedKey(header: string | undefined, apiKeys: readonly string[]): string {
  const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  if (token === undefined) throw unauthorized("Invalid token");
  const found = apiKeys.find((key) => timingSafeEqual(digest(token), digest(key)));
  if (found === undefined) throw unauthorized("Api key is invalid");
  return found;
}

function unauthorized(message: string): RequestFailure {
  return new RequestFailure("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

/** Hashes a text, so that any two compared values have equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Refuses what is said to be no JSON, with the sentence that helps. A body of no stated type is read as JSON. */
export function checkContentType(header: string | undefined): void {
  const type = header?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type === "application/json" || type.endsWith("+json")) return;
  const message = `The request body is sent as ${type.slice(0, 100)}; send JSON with the header content-type: application/json`;
  throw new RequestFailure("media-type", message);
}

/** Query parameters that are numbers. */
const numbers: ReadonlySet<string> = new Set(["page_num", "page_size"]);
/** Query parameters that may be repeated. */
const lists: ReadonlySet<string> = new Set(["filter.task_ids"]);

/**
 * A query as the fields of a request. What is no number stays the text that it is, and a parameter that stands twice a
 * list, so that the operation's own checks refuse them by name.
 */
export function queryFields(query: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).map(([name, values]) => [name, fieldValue(name, values)]));
}

function fieldValue(name: string, values: readonly string[]): unknown {
  if (lists.has(name) || values.length > 1) return values;
  const [value = ""] = values;
  return numbers.has(name) && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

/** Reads a request's JSON object, refusing it at the first byte past `maxBytes`. `whenEmpty` stands for no body at all. */
export async function readJsonObject(
  request: Request,
  maxBytes: number,
  whenEmpty?: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(request, maxBytes);
  if (text.trim() === "" && whenEmpty !== undefined) return whenEmpty;
  if (text.trim() === "") throw invalidRequest("The request body is empty; send a JSON object");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidRequest(`The request body is not valid JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (!isRecord(value)) throw invalidRequest("The request body must be a JSON object");
  return value;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const body = await readBody(request, maxBytes);
  if ("problem" in body) throw bodyRefused(body);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw invalidRequest("The request body is not UTF-8");
  }
}

const bodyFailures = { "too-large": "too-large", encoding: "media-type", damaged: "invalid" } as const;

function bodyRefused({ problem, message }: BodyProblem): Error {
  // The rest is not read, so that nothing can follow on this connection.
  return new RequestFailure(
    bodyFailures[problem],
    message,
    problem === "damaged" ? {} : { headers: { connection: "close" } },
  );
}
