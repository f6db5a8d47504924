import { hash } from "node:crypto";
import { endianness } from "node:os";
import type { Chunk, Document } from "../../core/types.js";
import type { DocumentState, TransferRecord } from "./records.js";
import { stateOf } from "./records.js";

/** The last record of a file: without it, the file is not whole. */
export interface EndRecord {
  readonly kind: "end";
  readonly documents: number;
  readonly chunks: number;
  /** SHA-256 over the checksums of all lines before, in order: none is missing, doubled or in another place. */
  readonly lines: string;
}

export type FileRecord = TransferRecord | EndRecord;

const format = "citewell-store";
const version = 1;
const prefix = '{"sha256":"';
const between = '","record":';
const recordAt = prefix.length + 64 + between.length;

/** A record as a line of JSON without its line break, and the checksum in it. */
export function encodeLine(record: FileRecord): { readonly line: string; readonly sha256: string } {
  const json = JSON.stringify(plain(record));
  const sha256 = hash("sha256", json, "hex");
  return { line: `${prefix}${sha256}${between}${json}}`, sha256 };
}

/** The record of a line; undefined if one character of it is not as it was written. */
export function decodeLine(line: string): { readonly record: FileRecord; readonly sha256: string } | undefined {
  const sha256 = line.slice(prefix.length, prefix.length + 64);
  const json = line.slice(recordAt, -1);
  if (line !== `${prefix}${sha256}${between}${json}}` || hash("sha256", json, "hex") !== sha256) return undefined;
  const record = parsed(JSON.parse(json) as Plain);
  return record && { record, sha256 };
}

type StoreRecord = TransferRecord & { readonly kind: "store" };

type Plain =
  | ({ readonly format: string; readonly version: number } & Omit<StoreRecord, "kind">)
  | { readonly of: DocumentState; readonly vectors: Readonly<Record<string, string>> }
  | {
      readonly document: Document;
      readonly chunks: readonly Omit<Chunk, "text" | "documentId">[];
      readonly note?: string;
    }
  | Omit<EndRecord, "kind">;

/** Chunks are spans of their document's text; vectors are little-endian 32-bit floats in base64. */
function plain(record: FileRecord): Plain {
  if (record.kind === "vectors") {
    const vectors = [...record.vectors].map(([key, vector]) => [key, encodeFloats(vector)]);
    return { of: record.of, vectors: Object.fromEntries(vectors) as Record<string, string> };
  }
  if (record.kind === "document") {
    const { write, note } = record;
    const chunks = write.chunks.map(({ id, start, end, context, tokens, parent }) => ({
      id,
      start,
      end,
      context,
      tokens,
      ...(parent && { parent }),
    }));
    return { document: write.document, chunks, ...(note !== undefined && { note }) };
  }
  const { kind, ...rest } = record;
  return kind === "store"
    ? { format, version, ...(rest as Omit<StoreRecord, "kind">) }
    : (rest as Omit<EndRecord, "kind">);
}

/** Undefined for another format, and for a later version of this one. */
function parsed(value: Plain): FileRecord | undefined {
  if ("format" in value) {
    const { format: found, version: written, ...rest } = value;
    return found === format && written === version ? { kind: "store", ...rest } : undefined;
  }
  if ("vectors" in value) {
    const vectors = Object.entries(value.vectors).map(([key, base64]) => [key, decodeFloats(base64)] as const);
    return { kind: "vectors", of: value.of, vectors: new Map(vectors) };
  }
  if ("document" in value) {
    const { document, chunks, note } = value;
    const write = {
      document,
      chunks: chunks.map((chunk) => ({
        ...chunk,
        documentId: document.uri,
        text: document.text.slice(chunk.start, chunk.end),
      })),
    };
    return { kind: "document", of: stateOf(write), write, ...(note !== undefined && { note }) };
  }
  return { kind: "end", ...value };
}

function encodeFloats({ buffer, byteOffset, byteLength }: Float32Array): string {
  return swapped(Buffer.from(new Uint8Array(buffer, byteOffset, byteLength))).toString("base64");
}

function decodeFloats(base64: string): Float32Array {
  const bytes = swapped(Buffer.from(base64, "base64"));
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function swapped(bytes: Buffer): Buffer {
  return endianness() === "BE" ? bytes.swap32() : bytes;
}
