import type { Document, Span } from "../../core/types.js";

/** A box on a page, in shares of its width and height from its left and its top edge, 0 to 1. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface PageBox extends Box {
  /** From 1. */
  readonly page: number;
}

/** Greatest number of two digits in base 36. */
const steps = 1295;
const nowhere = "--------";

/** Boxes as an anchor keeps them; `undefined` for a word without one. Pure. */
export function encodeWordBoxes(boxes: readonly (Box | undefined)[]): string {
  const digits = (share: number) =>
    Math.round(Math.min(1, Math.max(0, share)) * steps)
      .toString(36)
      .padStart(2, "0");
  return boxes.map((box) => (box ? [box.left, box.top, box.right, box.bottom].map(digits).join("") : nowhere)).join("");
}

/**
 * The boxes around the words of a stretch of a document, one for each line of each page, as far as its pages were scanned and
 * the places of their words are known. Pure.
 */
export function boxesOf({ text, anchors = [] }: Pick<Document, "text" | "anchors">, { start, end }: Span): PageBox[] {
  const pages = anchors.filter(({ page }) => page !== undefined);
  return pages.flatMap(({ start: from, page, wordBoxes }, index) => {
    const to = pages[index + 1]?.start ?? text.length;
    if (wordBoxes === undefined || from >= end || to <= start) return [];
    const words = [...text.slice(from, to).matchAll(/\S+/g)];
    const found = words.flatMap((word, place) => {
      const offset = from + word.index;
      const isWithin = offset < end && offset + word[0].length > start;
      return (isWithin && decoded(wordBoxes.slice(place * nowhere.length, (place + 1) * nowhere.length))) || [];
    });
    return linesOf(found).map((box) => ({ page: page!, ...box }));
  });
}

function decoded(digits: string): Box | undefined {
  if (!/^[\da-z]{8}$/.test(digits)) return undefined;
  const [left, top, right, bottom] = [0, 2, 4, 6].map(
    (from) => Number.parseInt(digits.slice(from, from + 2), 36) / steps,
  );
  return { left: left!, top: top!, right: right!, bottom: bottom! };
}

/** Boxes of words that follow one another on a line as one. */
function linesOf(words: readonly Box[]): Box[] {
  const lines: Box[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const middle = (word.top + word.bottom) / 2;
    if (last && word.left >= last.left && middle > last.top && middle < last.bottom) {
      lines[lines.length - 1] = {
        left: last.left,
        top: Math.min(last.top, word.top),
        right: Math.max(last.right, word.right),
        bottom: Math.max(last.bottom, word.bottom),
      };
    } else lines.push(word);
  }
  return lines;
}
