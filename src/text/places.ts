import type { Anchor, Document, Hit } from "../types.js";

/** Where an offset stands in the original file, as far as that is known. Both 1-based. */
export interface Place {
  readonly line?: number;
  readonly page?: number;
}

/** The place of an offset into a document's text. A document with anchors is placed by them alone. */
export function placeInDocument({ text, anchors }: Pick<Document, "text" | "anchors">, offset: number): Place {
  return anchors ? placeByAnchors(anchors, offset, {}) : { line: 1 + newlines(text, 0, offset) };
}

/** The place of an offset into the document that a hit's chunk is a slice of; the offset lies in the chunk. */
export function placeInHit({ chunk, line, page, anchors }: Hit, offset: number): Place {
  const atStart: Place = { ...(line !== undefined && { line }), ...(page !== undefined && { page }) };
  if (anchors) return placeByAnchors(anchors, offset, atStart);
  return line === undefined ? atStart : { ...atStart, line: line + newlines(chunk.text, 0, offset - chunk.start) };
}

function placeByAnchors(anchors: readonly Anchor[], offset: number, before: Place): Place {
  let place = before;
  for (const { start, line, page } of anchors) {
    if (start > offset) break;
    place = { ...place, ...(line !== undefined && { line }), ...(page !== undefined && { page }) };
  }
  return place;
}

/** Line breaks in `text` from `start` up to `end`: `\n`, `\r\n` and a lone `\r` count one each. */
function newlines(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end && at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) count++;
  }
  return count;
}
