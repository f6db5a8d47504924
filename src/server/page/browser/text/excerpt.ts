import type { WireExcerpt } from "../../../api/wire.js";

/** A piece of an excerpt, in the order in which it is shown. */
export type Piece =
  | { readonly kind: "text" | "highlight"; readonly text: string; readonly at: number }
  | { readonly kind: "page"; readonly page: number; readonly at: number };

/** The excerpt cut where a page begins, and where the highlighted part begins and ends. */
export function piecesOf(
  { text, from, pages }: Pick<WireExcerpt, "text" | "from" | "pages">,
  highlight: { readonly start: number; readonly end: number },
): Piece[] {
  const to = from + text.length;
  const cuts = [...pages.map(({ start }) => start), highlight.start, highlight.end, from, to];
  const places = [...new Set(cuts)].filter((at) => at >= from && at <= to).toSorted((a, b) => a - b);
  return places.flatMap((at, index): Piece[] => {
    const page = pages.find(({ start }) => start === at);
    const end = places[index + 1];
    const isHighlighted = at >= highlight.start && at < highlight.end;
    return [
      ...(page ? [{ kind: "page", page: page.page, at } as const] : []),
      ...(end === undefined
        ? []
        : [{ kind: isHighlighted ? "highlight" : "text", text: text.slice(at - from, end - from), at } as const]),
    ];
  });
}
