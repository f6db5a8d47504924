import { readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";
import { OptionsError } from "../errors.js";

/** Bytes as text where they are UTF-8. */
const Chunk = z.union([z.string(), z.strictObject({ base64: z.base64() })]);

const RecordedExchange = z.strictObject({
  request: z.strictObject({
    method: z.string(),
    /** Behind the origin, which is not kept: the same cassette serves another address. */
    path: z.string(),
    /** JSON where it is JSON, else text. */
    body: z.unknown(),
  }),
  /** Missing where nothing was answered. */
  reply: z
    .strictObject({
      status: z.int(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      /** In the pieces in which the body came. */
      chunks: z.array(Chunk),
    })
    .optional(),
  /** What broke the exchange, behind whatever had come of the reply; with `sent: false` before the request had left. */
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

/** The old file stays until the new one is whole. */
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

/** Pieces without the secret. Where it lay across a break, the pieces become one. */
export function withoutSecret(pieces: readonly Buffer[], secret: string | undefined): readonly Buffer[] {
  if (secret === undefined) return pieces;
  const whole = Buffer.concat(pieces);
  if (!whole.includes(secret)) return pieces;
  // Latin-1 keeps every byte, and a key is ASCII.
  const clean = (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replaceAll(secret, "[key]"), "latin1");
  const apart = pieces.map(clean);
  return Buffer.concat(apart).includes(secret) ? [clean(whole)] : apart;
}
