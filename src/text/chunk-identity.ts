import { hash } from "node:crypto";
import type { Chunk, Document } from "../types.js";

/** The string that is embedded, counted and reranked for a chunk: its context line, a blank line, its text. */
export function embeddingText(chunk: Pick<Chunk, "context" | "text">): string {
  return chunk.context === "" ? chunk.text : `${chunk.context}\n\n${chunk.text}`;
}

/** Id of the `occurrence`th (0-based) chunk of a document with this text and context. */
export function chunkId(documentId: string, embedded: string, occurrence: number): string {
  return digest(documentId, embedded, String(occurrence));
}

/** Under which a chunk's vector is kept: equal texts share one vector, wherever they stand. */
export function vectorKey(chunk: Pick<Chunk, "context" | "text">): string {
  return keyOfText(embeddingText(chunk));
}

/** The same where its `embeddingText` is at hand. */
export function keyOfText(embedded: string): string {
  return digest(embedded);
}

/**
 * Changes with anything that a reader of the store would notice: a document's text, its names, where its chunks lie.
 * Not with its source: who read a document is no change of it.
 */
export function documentFingerprint(document: Document, chunks: readonly Chunk[]): string {
  // Left out where there is none: most documents have none, and their fingerprints are not to change for it.
  const revision = document.revision === undefined ? [] : [document.revision];
  return digest(
    JSON.stringify([document.title, document.metadata, document.mediaType, document.anchors, ...revision]),
    document.text,
    ...chunks.map(({ id, start, end, parent }) =>
      parent ? `${id} ${start} ${end} ${parent.start} ${parent.end}` : `${id} ${start} ${end}`,
    ),
  );
}

/** SHA-256 of the parts, first 128 bits as hex. Each part's length goes in, so that ("ab", "c") is not ("a", "bc"). */
function digest(...parts: readonly string[]): string {
  let length = 0;
  for (const part of parts) length += part.length + longestPrefix;
  return hash("sha256", 3 * length <= scratch.length ? encoded(parts) : joined(parts), "hex").slice(0, 32);
}

/** Longest of what stands before a part: its length and a colon. */
const longestPrefix = 16;

/** Where short texts are encoded: joining them would leave a copy of each behind, with every look at it. */
const scratch = Buffer.allocUnsafeSlow(1 << 17);

/** Good until the next call. */
function encoded(parts: readonly string[]): Uint8Array {
  let end = 0;
  for (const part of parts) {
    end += scratch.write(`${part.length}:`, end);
    end += scratch.write(part, end);
  }
  return scratch.subarray(0, end);
}

function joined(parts: readonly string[]): string {
  let whole = "";
  for (const part of parts) whole += `${part.length}:${part}`;
  return whole;
}
