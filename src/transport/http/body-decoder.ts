import {
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
} from "node:zlib";
import { type FailedAttempt, badReply } from "../failures/failure.js";
import type { ResponseHeaders } from "../failures/response-headers.js";

export type BodyDecoder = BrotliDecompress | Gunzip | Inflate | InflateRaw;

/** Makes a decoder by the name of the coding. Some servers send deflate without zlib's header, whose first byte ends in 8. */
const decoders = new Map<string, (firstByte: number) => BodyDecoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw())],
]);

/** The coding that a body has to be decoded from, or several with commas; `undefined` for one that has none. */
export function codingOf(headers: ResponseHeaders): string | undefined {
  const coding = [headers["content-encoding"] ?? []].flat().join(", ").trim().toLowerCase();
  return coding === "" || coding === "identity" ? undefined : coding;
}

/** Receiver of a decoded body. */
export interface DecodedBody {
  readonly onPiece: (piece: Buffer) => void;
  /** Called when more of the coded body may be written, after `write` returned false. */
  readonly onDrain: () => void;
  readonly onEnd: () => void;
  readonly onError: (why: FailedAttempt) => void;
}

/**
 * Decodes a body as its pieces come, and gives on at once what each brings. No request asks for a coding, but nothing keeps
 * a server or a gateway from using one.
 *
 * @throws FailedAttempt for a coding that is not known, or several, one upon the other.
 */
export function bodyDecoder(coding: string, firstByte: number, body: DecodedBody): BodyDecoder {
  const decoder = decoders.get(coding)?.(firstByte);
  if (!decoder) {
    const known = [...decoders.keys()].join(", ");
    throw badReply(`the reply has the content-encoding ${coding}, and none but ${known} is known`);
  }
  decoder.on("data", body.onPiece).on("drain", body.onDrain).on("end", body.onEnd);
  return decoder.on("error", (cause: Error) => {
    body.onError(badReply(`the reply cannot be decoded from ${coding}: ${cause.message}`, { cause }));
  });
}
