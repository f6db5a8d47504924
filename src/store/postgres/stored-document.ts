import { createHash } from "node:crypto";
import type { DocumentWrite } from "../../core/ports.js";
import type { Chunk, Document } from "../../core/types.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";
import { namingTerms } from "../../text/words/page-names.js";
import { terms } from "../../text/words/terms.js";
import { checksumOf } from "../database/checksums.js";
import { chunkPlaces } from "../../text/blocks/places.js";
import { factsOf, type SecuredFields } from "./filters/facts.js";
import { columnText } from "../../postgres/column-text.js";
import { safeInteger } from "../../postgres/server.js";

/** UTF-16 code units of a piece of a text; the last may have fewer. Reading a chunk reads one or two pieces. */
export const pieceLength = 4096;

/** A word of the title or headings counts as often as in the embedded store. */
const contextWeight = 2;

/**
 * Id of a document in all tables: the first 64 bits of the SHA-256 of its uri, so that everything that belongs to it is found,
 * and distributed, by it. A bigint only beyond the integers that a number holds.
 */
export type DocumentId = number | bigint;

export function documentId(uri: string): DocumentId {
  const id = createHash("sha256").update(columnText(uri)).digest().readBigInt64BE(0);
  return safeInteger(id);
}

/** The id of a document with this uri, in SQL. */
export const documentIdSql = (uri: string) =>
  `('x' || left(encode(sha256(convert_to(${uri}, 'UTF8')), 'hex'), 16))::bit(64)::bigint`;

/** A document as the columns of `documents` hold it, without id and checksum. */
export interface DocumentColumns {
  readonly uri: string;
  readonly title: string | null;
  readonly media_type: string | null;
  readonly source: string | null;
  readonly fingerprint: string;
  readonly chunk_count: number;
  readonly metadata: string | null;
  readonly anchors: string | null;
  readonly revision: string | null;
}

/** A chunk as the columns of `chunks` hold it, without its words. */
export interface ChunkColumns {
  readonly id: string;
  readonly vector: string;
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly parent_start: number | null;
  readonly parent_end: number | null;
  readonly line: number | null;
  readonly page: number | null;
  readonly anchors: string | null;
  readonly context: string;
}

/** A document on its way into the tables. */
export interface PreparedDocument {
  readonly id: DocumentId;
  readonly document: Document;
  readonly columns: DocumentColumns;
  readonly chunks: readonly ChunkColumns[];
  readonly pieces: readonly string[];
  /** CRC-32 of everything above as it is stored. */
  readonly checksum: number;
  /** A `tsvector`; null in a store without row-level security. */
  readonly facts: string | null;
  /** The words of one of its chunks, with the number of times that each counts. */
  readonly wordsOf: (chunk: number) => ReadonlyMap<string, number>;
}

export function prepareDocument(
  { document, chunks }: DocumentWrite,
  secured: SecuredFields | undefined,
): PreparedDocument {
  const columns = documentColumns(document, chunks);
  const places = chunkPlaces(document, chunks);
  const rows = chunks.map((chunk, index): ChunkColumns => {
    const { line, page, anchors } = places[index]!;
    return {
      id: columnText(chunk.id),
      vector: vectorKey(chunk),
      start: chunk.start,
      end: chunk.end,
      tokens: chunk.tokens,
      parent_start: chunk.parent?.start ?? null,
      parent_end: chunk.parent?.end ?? null,
      line: line ?? null,
      page: page ?? null,
      anchors: jsonColumn(anchors),
      context: columnText(chunk.context),
    };
  });
  const pieces: string[] = [];
  for (let start = 0; start < document.text.length; start += pieceLength) {
    pieces.push(columnText(document.text.slice(start, start + pieceLength)));
  }
  return {
    id: documentId(document.uri),
    document,
    columns,
    chunks: rows,
    pieces,
    facts: factsOf(document, secured),
    checksum: documentChecksum(columns, rows, pieces),
    wordsOf: (chunk) => wordsOf(chunks[chunk]!),
  };
}

function documentColumns(document: Document, chunks: readonly Chunk[]): DocumentColumns {
  const { uri, title, mediaType, source, metadata, anchors, revision } = document;
  return {
    uri: columnText(uri),
    title: title === undefined ? null : columnText(title),
    media_type: mediaType === undefined ? null : columnText(mediaType),
    source: source === undefined ? null : columnText(source),
    fingerprint: documentFingerprint(document, chunks),
    chunk_count: chunks.length,
    metadata: jsonColumn(metadata),
    anchors: jsonColumn(anchors),
    revision: jsonColumn(revision),
  };
}

/** JSON escapes the characters that a text column cannot hold. */
function jsonColumn(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** The words of a chunk, with the number of times that each counts: those of title and headings twice. */
export function wordsOf(chunk: Pick<Chunk, "documentId" | "text" | "context">): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of terms(chunk.text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of terms(chunk.context)) counts.set(word, (counts.get(word) ?? 0) + contextWeight);
  for (const word of namingTerms(chunk)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** CRC-32 of a document as it is stored; chunks in any order. */
export function documentChecksum(
  { uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors, revision }: DocumentColumns,
  chunks: readonly ChunkColumns[],
  pieces: readonly string[],
): number {
  let sum = checksumOf([uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors, revision]);
  sum = checksumOf(pieces, sum);
  for (const chunk of chunks.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const { id, vector, start, end, tokens, parent_start, parent_end, line, page, context } = chunk;
    sum = checksumOf(
      [id, vector, start, end, tokens, parent_start, parent_end, line, page, chunk.anchors, context],
      sum,
    );
  }
  return sum;
}
