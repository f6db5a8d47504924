import { given } from "../../../core/given.js";
import type { Document } from "../../../core/types.js";
import { boxesOf } from "../../../text/blocks/word-boxes.js";
import { placeInDocument } from "../../../text/blocks/places.js";
import type { WireExcerpt } from "../wire.js";
import { tableHeadAbove, wholeRowsFrom, wholeRowsTo } from "./markdown-tables.js";

export const maxExcerptCharacters = 200_000;

/** The text around a passage, cut at whole code points, and in Markdown at whole rows of tables. Pure. */
export function excerptOf(
  { uri, title, mediaType, text, anchors = [] }: Document,
  passage: { readonly start: number; readonly end: number },
  around: number,
): WireExcerpt {
  const start = Math.min(passage.start, text.length);
  const end = Math.min(passage.end, text.length, start + maxExcerptCharacters);
  const isMarkdown = mediaType === "text/markdown";
  const [first, last] = [Math.max(0, start - around), Math.min(text.length, end + around)];
  const from = wholeCharacter(text, isMarkdown ? wholeRowsFrom(text, first) : first);
  const to = wholeCharacter(text, isMarkdown ? wholeRowsTo(text, last) : last);
  const isShown = (offset: number) => offset >= from && offset < to;
  const numbered = anchors.flatMap(({ page: each, start: at }) =>
    each === undefined ? [] : [{ page: each, start: at }],
  );
  // The description of a picture names its page again.
  const pages = numbered.filter(({ page: each }, index) => each !== numbered[index - 1]?.page);
  const { page, seconds, picture } = placeInDocument({ text, anchors }, start);
  const tableHead = isMarkdown ? tableHeadAbove(text, from) : undefined;
  const boxes = boxesOf({ text, anchors }, { start, end });
  // Descriptions of pictures have anchors within their cell.
  const cells = anchors.filter((anchor) => anchor.picture === undefined).map(({ start: offset }) => offset);
  const isNotebook = /\.ipynb(?=$|[?#;])/i.test(uri);
  return {
    uri,
    ...given({ title, mediaType, page, seconds, picture, tableHead }),
    start,
    end,
    text: text.slice(from, to),
    from,
    fromLine: text.slice(0, from).split("\n").length,
    length: text.length,
    pages: pages.filter(({ start: offset }) => isShown(offset)),
    ...(boxes.length > 0 && { boxes }),
    ...(isNotebook && { cells: cells.filter(isShown) }),
  };
}

/** Moves an offset so that it splits no surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const isInPair = /[\uDC00-\uDFFF]/.test(text.charAt(index)) && /[\uD800-\uDBFF]/.test(text.charAt(index - 1));
  return isInPair ? index - 1 : index;
}
