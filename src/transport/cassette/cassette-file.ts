import { readFile, rename, writeFile } from "node:fs/promises";
import type { Dispatcher } from "undici";
import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { type Secrecy, keepSecret, keepSecrets } from "../failures/secrecy.js";

/** Bytes, written as text when they are UTF-8. */
const Chunk = z.union([z.string(), z.strictObject({ base64: z.base64() })]);

const RecordedExchange = z.strictObject({
  request: z.strictObject({
    method: z.string(),
    /** Path without the origin, so that the same cassette serves another address. */
    path: z.string(),
    /** Body, as JSON if it can be parsed, else as text. */
    body: z.unknown(),
  }),
  /** Absent when the request got no answer. */
  reply: z
    .strictObject({
      status: z.int(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      /** Pieces of the body as they came. */
      chunks: z.array(Chunk),
    })
    .optional(),
  /** The error that broke the exchange, perhaps in the middle of the reply; `sent: false` when the request had not left. */
  failure: z.strictObject({ code: z.string(), message: z.string(), sent: z.literal(false).optional() }).optional(),
});
export type RecordedExchange = z.output<typeof RecordedExchange>;

const CassetteFile = z.strictObject({ cassette: z.literal(1), exchanges: z.array(RecordedExchange) });

/** @throws OptionsError (`config`) when there is no such file, or it is no cassette. */
export async function readCassette(path: string): Promise<readonly RecordedExchange[]> {
  const refuse = (problem: string, cause: unknown) =>
    new OptionsError("config", `The cassette ${path} ${problem}`, { cause });
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw refuse(`cannot be read: ${(cause as Error).message}. Record it first, with mode "record"`, cause);
  }
  try {
    return CassetteFile.parse(JSON.parse(text)).exchanges;
  } catch (cause) {
    throw refuse(`is not one that this version wrote: ${(cause as Error).message}`, cause);
  }
}

/** Writes a new file, which replaces the old one once it is whole. */
export async function writeCassette(path: string, exchanges: readonly RecordedExchange[]): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify({ cassette: 1, exchanges }, undefined, 1)}\n`);
  await rename(`${path}.new`, path);
}

export function encodeChunk(bytes: Buffer): z.output<typeof Chunk> {
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString("base64") };
}

export function decodeChunk(chunk: z.output<typeof Chunk>): Buffer {
  return typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.base64, "base64");
}

/** The request as it is recorded, without the key. */
export function recordedRequest(options: Dispatcher.DispatchOptions): RecordedExchange["request"] {
  const { method, path, body } = options;
  // Requests are told apart by their bodies, so only the whole key is taken out of them: a program has no other key there.
  const { redact } = secrecyOf(options, Infinity);
  const text = body === null || body === undefined ? "" : redact(Buffer.from(body as Uint8Array).toString());
  return {
    method,
    path: redact(path),
    ...(text !== "" && { body: jsonOrText(text) }),
  } as RecordedExchange["request"];
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const plainHeaders = new Set(["accept", "content-type", "x-trace-id", "x-client-request-id"]);

/** Hides the key of a request, and what its own headers hold. */
export function secrecyOf({ headers }: Pick<Dispatcher.DispatchOptions, "headers">, leastPart?: number): Secrecy {
  if (typeof headers !== "object" || headers === null) return keepSecret(undefined);
  const { authorization, "api-key": plainKey, ...rest } = headers as Readonly<Record<string, unknown>>;
  const key = typeof authorization === "string" ? authorization.replace(/^\S+ /, "") : plainKey;
  const own = Object.entries(rest).flatMap(([name, value]) =>
    typeof value === "string" && !plainHeaders.has(name) ? [value] : [],
  );
  return keepSecrets(typeof key === "string" ? key : undefined, own, leastPart);
}

/** Returns the pieces without the key. When it lay across two pieces, all pieces become one. */
export function redactPieces(pieces: readonly Buffer[], { redact }: Secrecy): readonly Buffer[] {
  // Latin-1 keeps every byte, and a key is ASCII.
  const clean = (bytes: Buffer) => Buffer.from(redact(bytes.toString("latin1")), "latin1");
  const whole = Buffer.concat(pieces);
  const cleanWhole = clean(whole);
  if (cleanWhole.equals(whole)) return pieces;
  const separate = pieces.map(clean);
  return Buffer.concat(separate).equals(cleanWhole) ? separate : [cleanWhole];
}
