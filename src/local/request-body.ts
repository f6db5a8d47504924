import { invalidRequest, tooLarge } from "./failure/refusal.js";

/** Reads a request's JSON object, refusing it at the first byte past `maxBytes`. `whenEmpty` stands for no body at all. */
export async function readJsonObject(
  request: Request,
  maxBytes: number,
  whenEmpty?: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > maxBytes) throw bodyTooLarge(maxBytes);
  const text = await readText(request, maxBytes);
  if (text.trim() === "" && whenEmpty !== undefined) return whenEmpty;
  if (text.trim() === "") throw invalidRequest("The request body is empty; send a JSON object");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidRequest(`The request body is not valid JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidRequest("The request body must be a JSON object");
  }
  return value as Readonly<Record<string, unknown>>;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (request.body !== null) {
    for await (const part of request.body as AsyncIterable<Uint8Array>) {
      size += part.byteLength;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      parts.push(part);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw invalidRequest("The request body is not UTF-8");
  }
}

function bodyTooLarge(maxBytes: number): Error {
  return tooLarge(`The request body must have at most ${maxBytes} bytes`);
}
