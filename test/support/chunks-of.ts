import { chunkId } from "../../src/text/chunking/chunk-identity.js";
import type { Document, DocumentChunk } from "../../src/core/types.js";
import { words } from "./memory-store.js";

/** A document with one text per line, each line a chunk. */
export function chunksOf(uri: string, ...texts: readonly string[]): DocumentChunk[] {
  const document: Document = { uri, text: texts.join("\n"), source: "file:///docs/" };
  let start = 0;
  return texts.map((text, index) => {
    const end = start + text.length;
    const occurrence = texts.slice(0, index).filter((earlier) => earlier === text).length;
    const id = chunkId(uri, text, occurrence);
    const chunk = { id, documentId: uri, document, start, end, text, context: "", tokens: words(text).length };
    start = end + 1;
    return chunk;
  });
}
