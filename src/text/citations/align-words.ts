import type { WordSpan } from "./comparable-text.js";

/** The words of a text from index `from` up to `to`. */
export interface WordWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * The window of `text` that becomes `wanted` with the fewest edits (a word inserted, deleted or replaced), if they are at
 * most `1 - threshold` of the wanted words. Approximate matching after Sellers (1980): takes
 * `wanted.length × text.length` steps, and only if enough of the words occur at all.
 */
export function alignWords(
  wanted: readonly WordSpan[],
  text: readonly WordSpan[],
  threshold: number,
): WordWindow | undefined {
  const rows = wanted.length;
  const vocabulary = new Set(text.map(({ word }) => word));
  const present = wanted.filter(({ word }) => vocabulary.has(word)).length;
  if (rows === 0 || present < threshold * rows) return undefined;

  // One column a word of the text: the edits so far, and where that match began. A match may begin anywhere at no cost.
  let edits = Int32Array.from({ length: rows + 1 }, (_, row) => row);
  let begins = new Int32Array(rows + 1);
  let best = { edits: Math.floor(rows * (1 - threshold) + 1e-9) + 1, from: 0, to: 0 };
  for (const [column, { word }] of text.entries()) {
    const nextEdits = new Int32Array(rows + 1);
    const nextBegins = new Int32Array(rows + 1);
    nextBegins[0] = column + 1;
    for (let row = 1; row <= rows; row++) {
      const replaced = edits[row - 1]! + (wanted[row - 1]!.word === word ? 0 : 1);
      const inserted = edits[row]! + 1;
      const left = nextEdits[row - 1]! + 1;
      const fewest = Math.min(replaced, inserted, left);
      nextEdits[row] = fewest;
      nextBegins[row] =
        fewest === replaced ? begins[row - 1]! : fewest === inserted ? begins[row]! : nextBegins[row - 1]!;
    }
    edits = nextEdits;
    begins = nextBegins;
    if (edits[rows]! < best.edits) best = { edits: edits[rows]!, from: begins[rows]!, to: column + 1 };
  }
  return best.to > best.from ? { from: best.from, to: best.to } : undefined;
}

/**
 * The window of at most twice the length of `wanted` with the most of its distinct words, if they are at least the share
 * `threshold`; it begins and ends with one of them. One pass.
 */
export function bestWindow(
  wanted: readonly WordSpan[],
  text: readonly WordSpan[],
  threshold: number,
): WordWindow | undefined {
  const distinct = new Set(wanted.map(({ word }) => word));
  const width = Math.max(2 * wanted.length, 12);
  const held = new Map<string, number>();
  let best = { held: Math.ceil(distinct.size * threshold - 1e-9) - 1, from: 0, to: 0 };
  for (const [at, { word }] of text.entries()) {
    const leaving = text[at - width]?.word;
    const leavingCount = leaving === undefined ? undefined : held.get(leaving);
    if (leaving !== undefined && leavingCount === 1) held.delete(leaving);
    else if (leaving !== undefined && leavingCount !== undefined) held.set(leaving, leavingCount - 1);
    if (!distinct.has(word)) continue;
    held.set(word, (held.get(word) ?? 0) + 1);
    if (held.size > best.held) best = { held: held.size, from: Math.max(0, at - width + 1), to: at + 1 };
  }
  let { from } = best;
  while (from < best.to && !distinct.has(text[from]!.word)) from++;
  return best.to > from ? { from, to: best.to } : undefined;
}
