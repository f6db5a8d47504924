import type { FoundPicture } from "../../loader.js";

/** A picture of the document, by the number of its mark. */
export interface MarkedPicture {
  /** Absent: the file does not have it. */
  readonly bytes?: Uint8Array;
  readonly caption: string;
}

/** Stands in the text at the place of a picture: signs for private use, which Word's fonts for symbols do not have. */
export function pictureMark(index: number): string {
  return `\u{F0000}${index}\u{F0001}`;
}

const marks = /\u{F0000}(\d+)\u{F0001}/gu;

/**
 * The pictures with their places in `text`, which is `marked` without marks and without the white space that only they need: a place is
 * behind as many signs that are no white space. Pure.
 */
export function placedPictures(text: string, marked: string, pictures: readonly MarkedPicture[]): FoundPicture[] {
  const placed: FoundPicture[] = [];
  let [signs, passed, offset] = [0, 0, 0];
  let counted = 0;
  for (const { index, 0: mark, 1: number } of marked.matchAll(marks)) {
    signs += signsIn(marked.slice(passed, index));
    passed = index + mark.length;
    for (; offset < text.length && counted < signs; offset++) if (!isSpace(text[offset]!)) counted++;
    const { bytes, caption } = pictures[Number(number)] ?? {};
    if (bytes) placed.push({ offset, bytes, ...(caption && { caption }) });
  }
  return placed;
}

function signsIn(text: string): number {
  return text.replace(/\s+/gu, "").length;
}

function isSpace(sign: string): boolean {
  return /\s/u.test(sign);
}
