import { hash } from "node:crypto";
import type { Chunk, Document } from "../../core/types.js";

/** The string that is embedded, counted and reranked for a chunk: its context line, a blank line, its text. */
export function embeddingText(chunk: Pick<Chunk, "context" | "text">): string {
  return chunk.context === "" ? chunk.text : `${chunk.context}\n\n${chunk.text}`;
}

/** Id of the `occurrence`th (0-based) chunk of a document with this `embeddingText`. */
export function chunkId(documentId: string, embedded: string, occurrence: number): string {
  return digest([documentId, embedded, String(occurrence)]);
}

/**
 * The key of a chunk's vector: equal texts share one vector, wherever they stand.
 *
 * @example
 * ```ts
 * import { chunk, collect, Pipeline, vectorKey, type Document } from "citewell";
 * const documents = [{ uri: "keys", text: "Keys expire after 90 days." }];
 * const chunks = await collect(Pipeline.from<Document>().pipe(chunk()).stream(documents));
 * const keys = chunks.map((each) => vectorKey(each));
 * ```
 */
export function vectorKey(chunk: Pick<Chunk, "context" | "text">): string {
  return keyOfText(embeddingText(chunk));
}

/** Like `vectorKey`, for a caller that has the `embeddingText`. */
export function keyOfText(embedded: string): string {
  return digest([embedded]);
}

/**
 * Changes with anything that a reader of the store would notice: a document's text, its names, the spans of its chunks.
 * Does not change with its source, because it does not matter who read a document, nor with the order of the chunks.
 */
export function documentFingerprint(document: Document, chunks: readonly Chunk[]): string {
  // Most documents have no revision, and their fingerprints must not depend on the field.
  const revision = document.revision === undefined ? [] : [document.revision];
  // Passed as an array: hundreds of thousands of chunks are too many for the arguments of a call.
  return digest([
    JSON.stringify([document.title, document.metadata, document.mediaType, document.anchors, ...revision]),
    document.text,
    ...chunks
      .toSorted(inOrderOfText)
      .map(({ id, start, end, parent }) =>
        parent ? `${id} ${start} ${end} ${parent.start} ${parent.end}` : `${id} ${start} ${end}`,
      ),
  ]);
}

function inOrderOfText(one: Chunk, other: Chunk): number {
  return one.start - other.start || one.end - other.end || (one.id < other.id ? -1 : 1);
}

/** Maximum length of what precedes a part: its length and a colon. */
const maxPrefixLength = 16;

/** Short texts are encoded here, since joining them would allocate a copy for each look-up. */
const scratch = Buffer.allocUnsafeSlow(1 << 17);

/** SHA-256 of the parts, first 128 bits as hex. Each part's length goes in, so that ("ab", "c") is not ("a", "bc"). */
function digest(parts: readonly string[]): string {
  let length = 0;
  for (const part of parts) length += part.length + maxPrefixLength;
  return hash("sha256", 3 * length <= scratch.length ? encoded(parts) : joined(parts), "hex").slice(0, 32);
}

/** Valid until the next call. */
function encoded(parts: readonly string[]): Uint8Array {
  let end = 0;
  for (const part of parts) {
    end += scratch.write(`${part.length}:`, end);
    end += scratch.write(part, end);
  }
  return scratch.subarray(0, end);
}

function joined(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join("");
}
