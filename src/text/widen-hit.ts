import type { TokenCounter } from "../ports.js";
import type { Document, Hit, Span } from "../types.js";
import { embeddingText } from "./chunk-identity.js";
import { placeInDocument } from "./places.js";

/** Whether the document still has the chunk's text at its span; it may have been replaced since the search. */
export function standsIn({ chunk: { start, end, text } }: Hit, document: Document | undefined): document is Document {
  return document?.text.slice(start, end) === text;
}

/**
 * The hit with more of its document to read: text and place become those of the wider span, under the chunk's id. What was
 * found stays in `matched`.
 */
export function widenHit(hit: Hit, document: Document, { start, end }: Span, tokens: TokenCounter): Hit {
  const { chunk } = hit;
  const matched = hit.matched ?? [{ start: chunk.start, end: chunk.end }];
  if (start === chunk.start && end === chunk.end) return { ...hit, matched };
  const text = document.text.slice(start, end);
  const { line: _, page: __, anchors: ___, ...rest } = hit;
  const { anchors } = document;
  return {
    ...rest,
    ...placeInDocument(document, start),
    ...(anchors && { anchors: anchors.filter((anchor) => anchor.start >= start && anchor.start < end) }),
    chunk: { ...chunk, start, end, text, tokens: tokens.count(embeddingText({ context: chunk.context, text })) },
    matched,
  };
}
