/** First and last byte, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a `Range` header asks of so many bytes: `undefined` for all (no header, or one of a kind that may be ignored,
 * such as several ranges), `"outside"` when nothing of it is there. RFC 9110, 14.1.2. Pure.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | "outside" | undefined {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (asked === null) return undefined;
  const [, from = "", to = ""] = asked;
  if (from === "") {
    if (to === "") return undefined;
    const count = Number(to);
    return count === 0 ? "outside" : { first: Math.max(0, size - count), last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return undefined;
  if (first >= size) return "outside";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
