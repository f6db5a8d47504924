import type { Chunk, Document } from "../../types.js";

/** Chunks of a document as they cross to another thread: few, large pieces, and no text, which is a slice of the document's. */
export interface PackedChunks {
  /** All ids, one behind the other. */
  readonly ids: string;
  /** Start, end, tokens, the parent's start and end, and which context, of each chunk. */
  readonly numbers: Uint32Array;
  /** Contexts that differ from the one before. */
  readonly contexts: readonly string[];
}

const idLength = 32;
const numbersPerChunk = 6;
/** Where a chunk has no parent: no text is that long. */
const none = 2 ** 32 - 1;

/** @param chunks of one document, with ids that `chunkId` made. */
export function packed(chunks: readonly Chunk[]): PackedChunks {
  const numbers = new Uint32Array(chunks.length * numbersPerChunk);
  const contexts: string[] = [];
  let ids = "";
  for (const [at, { id, start, end, tokens, parent, context }] of chunks.entries()) {
    ids += id;
    if (contexts.at(-1) !== context) contexts.push(context);
    numbers.set(
      [start, end, tokens, parent?.start ?? none, parent?.end ?? none, contexts.length - 1],
      at * numbersPerChunk,
    );
  }
  return { ids, numbers, contexts };
}

export function* unpacked({ uri, text }: Document, { ids, numbers, contexts }: PackedChunks): Generator<Chunk> {
  for (let at = 0; at * numbersPerChunk < numbers.length; at++) {
    const place = at * numbersPerChunk;
    const [start, end, tokens, parentStart, parentEnd, context] = numbers.subarray(place, place + numbersPerChunk);
    const parent = parentStart === none ? undefined : { start: parentStart!, end: parentEnd! };
    yield {
      id: ids.slice(at * idLength, (at + 1) * idLength),
      documentId: uri,
      start: start!,
      end: end!,
      text: text.slice(start, end),
      context: contexts[context!]!,
      tokens: tokens!,
      ...(parent && { parent }),
    };
  }
}
