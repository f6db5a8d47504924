import type { Anchor, Document } from "../../core/types.js";
import { OptionsError } from "../../core/errors.js";

/** The requested part of a document. At most one of `start`, `line` and `page` says where it begins. */
export interface WantedPart {
  /** Offset of the first character, in UTF-16 code units. Default: 0. */
  readonly start?: number | undefined;
  /** Offset just behind the last. Default: the end of the page, or of the document. */
  readonly end?: number | undefined;
  /** 1-based line of the original file. */
  readonly line?: number | undefined;
  /** 1-based page of the original file. */
  readonly page?: number | undefined;
  /** Characters to add before and behind the place. Default: none. */
  readonly around?: number | undefined;
}

export interface DocumentPart {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Offset at which the document continues; absent at its end. */
  readonly next?: number;
}

/**
 * The requested part of a document, up to `maxCharacters`.
 *
 * @throws OptionsError that says what there is, when the document has no such place.
 */
export function documentPart(document: Document, wanted: WantedPart, maxCharacters: number): DocumentPart {
  const { text } = document;
  const { around } = wanted;
  const place = placeOf(document, wanted);
  // Around a point, the document is not read to its end.
  const to = place.end ?? (around === undefined ? text.length : place.start);
  if (place.start > text.length || to < place.start) {
    throw new OptionsError("options", `The document has ${text.length} characters: none from ${place.start} to ${to}`);
  }
  const start = beforePair(text, Math.max(0, place.start - (around ?? 0)));
  const end = beforePair(text, Math.min(text.length, to + (around ?? 0), start + maxCharacters));
  return { start, end, text: text.slice(start, end), ...(end < text.length && { next: end }) };
}

function placeOf({ text, anchors }: Document, { start, end, line, page }: WantedPart): { start: number; end?: number } {
  if ([start, line, page].filter((given) => given !== undefined).length > 1) {
    throw new OptionsError("options", "Give one of start, line and page");
  }
  const until = end === undefined ? {} : { end };
  if (line !== undefined) return { start: anchors ? anchorOfLine(anchors, line) : startOfLine(text, line), ...until };
  if (page === undefined) return { start: start ?? 0, ...until };
  const first = anchors?.find((anchor) => anchor.page === page);
  if (!first) {
    const pages = (anchors ?? []).flatMap((anchor) => anchor.page ?? []);
    const there = pages.length === 0 ? "the document has no pages" : `its pages are ${pages[0]} to ${pages.at(-1)}`;
    throw new OptionsError("options", `There is no page ${page}: ${there}`);
  }
  const after = anchors?.find(
    (anchor) => anchor.start > first.start && anchor.page !== undefined && anchor.page !== page,
  );
  return { start: first.start, ...(after && { end: after.start }), ...until };
}

function startOfLine(text: string, line: number): number {
  if (line === 1) return 0;
  let lines = 1;
  for (const { 0: lineBreak, index } of text.matchAll(/\r\n?|\n/g)) {
    lines++;
    if (lines === line) return index + lineBreak.length;
  }
  throw new OptionsError("options", `There is no line ${line}: the last is ${lines}`);
}

function anchorOfLine(anchors: readonly Anchor[], line: number): number {
  const before = anchors.findLast((anchor) => anchor.line !== undefined && anchor.line <= line);
  if (before) return before.start;
  throw new OptionsError("options", "The lines of this document are not known. Give start, which search returns");
}

/** The offset, or the one before it where it would cut a character in two. */
function beforePair(text: string, offset: number): number {
  const cutsPair = /[\uD800-\uDBFF]/.test(text.charAt(offset - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(offset));
  return cutsPair ? offset - 1 : offset;
}
