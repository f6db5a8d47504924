import type { Anchor, Document, Hit } from "../../core/types.js";

/** Where an offset lies in the original file, as far as that is known. Both are 1-based. */
export interface Place {
  readonly line?: number;
  readonly page?: number;
}

/** The place of an offset into a document's text. If the document has anchors, they alone decide. */
export function placeInDocument({ text, anchors }: Pick<Document, "text" | "anchors">, offset: number): Place {
  return anchors ? placeByAnchors(anchors, offset, {}) : { line: 1 + lineBreaks(text, offset) };
}

/** The place of an offset into the document that a hit's chunk is a slice of; the offset must lie in the chunk. */
export function placeInHit({ chunk, line, page, anchors }: Hit, offset: number): Place {
  const atStart: Place = { ...(line !== undefined && { line }), ...(page !== undefined && { page }) };
  if (anchors) return placeByAnchors(anchors, offset, atStart);
  return line === undefined ? atStart : { ...atStart, line: line + lineBreaks(chunk.text, offset - chunk.start) };
}

function placeByAnchors(anchors: readonly Anchor[], offset: number, before: Place): Place {
  let place = before;
  for (const { start, line, page } of anchors) {
    if (start > offset) break;
    place = { ...place, ...(line !== undefined && { line }), ...(page !== undefined && { page }) };
  }
  return place;
}

/** Line breaks in `text` before `end`: `\n`, `\r\n` and a lone `\r` count one each. */
function lineBreaks(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end && at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) count++;
  }
  return count;
}
