import type { WireExcerpt } from "../../../api/wire.js";

/** A piece of an excerpt, in the order in which it is shown. */
export type Piece =
  | { readonly kind: "text" | "highlight" | "sentence"; readonly text: string; readonly at: number }
  | { readonly kind: "page"; readonly page: number; readonly at: number };

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The excerpt cut where a page begins, and where the highlighted part and the sentence around it begin and end. */
export function piecesOf(
  { text, from, pages }: Pick<WireExcerpt, "text" | "from" | "pages">,
  highlight: Stretch,
  sentence: Stretch = highlight,
): Piece[] {
  const to = from + text.length;
  const cuts = [
    ...pages.map(({ start }) => start),
    highlight.start,
    highlight.end,
    sentence.start,
    sentence.end,
    from,
    to,
  ];
  const places = [...new Set(cuts)].filter((position) => position >= from && position <= to).toSorted((a, b) => a - b);
  return places.flatMap((offset, index): Piece[] => {
    const page = pages.find(({ start }) => start === offset);
    const end = places[index + 1];
    const isIn = ({ start, end: behind }: Stretch) => offset >= start && offset < behind;
    const kind = isIn(highlight) ? "highlight" : isIn(sentence) ? "sentence" : "text";
    return [
      ...(page ? [{ kind: "page", page: page.page, at: offset } as const] : []),
      ...(end === undefined ? [] : [{ kind, text: text.slice(offset - from, end - from), at: offset } as const]),
    ];
  });
}
