import { given } from "../../core/given.js";
import type { Anchor, Document, Hit, PictureOrigin, Span } from "../../core/types.js";

/**
 * Where an offset lies in the original file, as far as that is known: 1-based line and page, seconds of a recording, the
 * picture that is described there.
 */
export interface Place {
  readonly line?: number;
  readonly page?: number;
  readonly seconds?: number;
  readonly picture?: PictureOrigin;
}

/** The place of an offset into a document's text. If the document has anchors, they alone decide. */
export function placeInDocument({ text, anchors }: Pick<Document, "text" | "anchors">, offset: number): Place {
  return anchors ? placeByAnchors(anchors, offset, {}) : { line: 1 + lineBreaks(text, offset) };
}

/** The place of an offset into the document that a hit's chunk is a slice of; the offset must lie in the chunk. */
export function placeInHit({ chunk, line, page, seconds, picture, anchors }: Hit, offset: number): Place {
  const atStart: Place = given({ line, page, seconds, picture });
  if (anchors) return placeByAnchors(anchors, offset, atStart);
  return line === undefined ? atStart : { ...atStart, line: line + lineBreaks(chunk.text, offset - chunk.start) };
}

/**
 * The picture that words of a hit describe, wherever in the span they begin: words of which a part is a model's are not all the
 * document's own.
 */
export function pictureWithin(hit: Hit, { start, end }: Span): PictureOrigin | undefined {
  const { picture } = placeInHit(hit, start);
  if (picture) return picture;
  const inside = hit.anchors?.find((anchor) => anchor.picture && anchor.start > start && anchor.start < end);
  return inside?.picture || undefined;
}

/**
 * Where a chunk starts in the original file, and the anchors inside its span. Where the time or the picture at its start is
 * known, its first anchor says it, so that a store need not keep it beside the line and the page.
 */
export interface ChunkPlace extends Place {
  readonly anchors?: readonly Anchor[];
}

/** The place of a chunk from the columns that a store keeps of it. */
export function storedPlace({
  start,
  line,
  page,
  anchors: json,
}: {
  readonly start: number;
  readonly line: number | null;
  readonly page: number | null;
  /** Anchors as JSON. */
  readonly anchors: string | null;
}): ChunkPlace {
  const anchors = json === null ? undefined : (JSON.parse(json) as Anchor[]);
  const seconds = anchors?.findLast((anchor) => anchor.start === start && anchor.seconds !== undefined)?.seconds;
  const picture = anchors?.findLast((anchor) => anchor.start === start && anchor.picture !== undefined)?.picture;
  return given({ line: line ?? undefined, page: page ?? undefined, seconds, picture: picture || undefined, anchors });
}

/** A time of a recording as its player shows it: `12:34`, `1:02:03`. */
export function clockTime(seconds: number): string {
  const units = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)];
  const shown = units[0] === 0 ? units.slice(1) : units;
  return shown.map((unit, index) => (index === 0 ? `${unit}` : `${unit}`.padStart(2, "0"))).join(":");
}

/** The places of a document's chunks, in one pass over its text and anchors for any number of chunks. */
export function chunkPlaces(document: Document, spans: readonly Span[]): ChunkPlace[] {
  return document.anchors ? placesByAnchors(document.anchors, spans) : placesByLines(document.text, spans);
}

function placeByAnchors(anchors: readonly Anchor[], offset: number, before: Place): Place {
  let place = before;
  for (const { start, line, page, seconds, picture } of anchors) {
    if (start > offset) break;
    const { picture: described, ...others } = place;
    const current = picture ?? described;
    place = {
      ...others,
      ...(current && { picture: current }),
      ...(line !== undefined && { line }),
      ...(page !== undefined && { page }),
      ...(seconds !== undefined && { seconds }),
    };
  }
  return place;
}

/** Line breaks in `text` before `end`: `\n`, `\r\n` and a lone `\r` count one each. */
function lineBreaks(text: string, end: number): number {
  let count = 0;
  for (let offset = 0; offset < end && offset < text.length; offset++) {
    const unit = text.charCodeAt(offset);
    if (unit === 10 || (unit === 13 && text.charCodeAt(offset + 1) !== 10)) count++;
  }
  return count;
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
    place = placeByAnchors(anchors.slice(passed, upTo), start, place);
    passed = upTo;
    const { seconds, picture } = place;
    const inside = anchors.slice(firstAfter(anchors, start - 1), firstAfter(anchors, end - 1)).map(withoutBoxes);
    const isTimed =
      seconds === undefined || inside.some((anchor) => anchor.start === start && anchor.seconds === seconds);
    const isMarked = !picture || inside.some((anchor) => anchor.start === start && anchor.picture);
    const added = { ...(!isTimed && { seconds }), ...(!isMarked && { picture }) };
    return { ...place, anchors: isTimed && isMarked ? inside : [{ start, ...added }, ...inside] };
  });
}

/** The boxes of a page's words are read with the document alone: every hit would carry them otherwise. */
function withoutBoxes(anchor: Anchor): Anchor {
  if (anchor.wordBoxes === undefined) return anchor;
  const { wordBoxes: _, ...others } = anchor;
  return others;
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
