import type { Anchor, PictureOrigin } from "../../core/types.js";
import type { LoadedText } from "../formats/loader.js";

export interface InsertedDescription {
  /** Offset into the document's text; the description stands behind the line that it lies in. */
  readonly offset: number;
  /** Page that shows the picture. Default: that of the offset. */
  readonly page?: number;
  readonly text: string;
  readonly origin: PictureOrigin;
}

/**
 * The text with each description as a block of its own behind its picture. An anchor at its start says whose words it is, and
 * one behind it that the document's own words go on. Pure.
 */
export function insertDescriptions(
  { text, anchors: given }: Pick<LoadedText, "text" | "anchors">,
  descriptions: readonly InsertedDescription[],
): { readonly text: string; readonly anchors: readonly Anchor[] } {
  const anchors = given ?? anchorsOfLines(text);
  const result: Anchor[] = [];
  let joined = "";
  let [passed, taken] = [0, 0];
  const copyTo = (end: number) => {
    const shift = joined.length - passed;
    for (; taken < anchors.length && anchors[taken]!.start < end; taken++) {
      const anchor = anchors[taken]!;
      result.push({ ...anchor, start: anchor.start + shift });
    }
    joined += text.slice(passed, end);
    passed = end;
  };
  const placed = descriptions
    .map((description) => ({ ...description, end: lineEnd(text, description.offset) }))
    .toSorted((one, other) => one.end - other.end);
  for (const { end, page, text: words, origin } of placed) {
    copyTo(end);
    joined += joined === "" ? "" : joined.endsWith("\n\n") ? "" : joined.endsWith("\n") ? "\n" : "\n\n";
    result.push({ start: joined.length, ...(page !== undefined && { page }), picture: origin });
    joined += words;
    result.push({ start: joined.length, picture: false });
    if (end < text.length) joined += text.startsWith("\n\n", end) ? "" : text.startsWith("\n", end) ? "\n" : "\n\n";
  }
  copyTo(text.length);
  for (; taken < anchors.length; taken++) result.push({ ...anchors[taken]!, start: joined.length });
  return { text: joined, anchors: result };
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end;
}

/** A text whose lines are the file's, with an anchor for each: the inserted lines are not in the file. */
function anchorsOfLines(text: string): Anchor[] {
  const starts = [...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: { length } }) => index + length);
  return [0, ...starts].map((start, index) => ({ start, line: index + 1 }));
}
