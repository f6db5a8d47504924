/** What a heading is counted by: `3`, `3.1.2`, `A.1`, `一、`, `（二）`. */
export const headingNumber =
  /^(?:((?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*)[.)]?\s|[一二三四五六七八九十]{1,3}、|([（(][一二三四五六七八九十]{1,3}[）)]))/u;

/** How deep a heading lies by its number: 1 for `3` and `一、`, 3 for `3.1.2`; 1 without one. */
export function depthByNumber(text: string): number {
  const [, counted, bracketed] = headingNumber.exec(text) ?? [];
  return bracketed === undefined ? (counted ?? "").split(".").length : 2;
}
