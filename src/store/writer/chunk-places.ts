import type { Anchor, Document, Span } from "../../core/types.js";
import { placeInDocument } from "../../text/blocks/places.js";

/** Where a chunk starts in the original file, and the anchors inside its span. */
export interface ChunkPlace {
  readonly line?: number;
  readonly page?: number;
  readonly anchors?: readonly Anchor[];
}

/** The places of a document's chunks, in one pass over its text and anchors for any number of chunks. */
export function chunkPlaces(document: Document, spans: readonly Span[]): ChunkPlace[] {
  return document.anchors ? placesByAnchors(document.anchors, spans) : placesByLines(document.text, spans);
}

function placesByLines(text: string, spans: readonly Span[]): ChunkPlace[] {
  let from = 0;
  let line = 1;
  return spans.map(({ start }) => {
    if (start < from) [from, line] = [0, 1];
    // One character more than counted: the next one decides whether a \r ends a line.
    line += placeInDocument({ text: text.slice(from, start + 1) }, start - from).line! - 1;
    from = start;
    return { line };
  });
}

function placesByAnchors(anchors: readonly Anchor[], spans: readonly Span[]): ChunkPlace[] {
  let passed = 0;
  let place: ChunkPlace = {};
  return spans.map(({ start, end }) => {
    if (passed > 0 && anchors[passed - 1]!.start > start) [passed, place] = [0, {}];
    const upTo = firstAfter(anchors, start);
    place = { ...place, ...placeInDocument({ text: "", anchors: anchors.slice(passed, upTo) }, start) };
    passed = upTo;
    return { ...place, anchors: anchors.slice(firstAfter(anchors, start - 1), firstAfter(anchors, end - 1)) };
  });
}

/** Index of the first anchor that starts after `offset`. */
function firstAfter(anchors: readonly Anchor[], offset: number): number {
  let low = 0;
  let high = anchors.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (anchors[middle]!.start <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
