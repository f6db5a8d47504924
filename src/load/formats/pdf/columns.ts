import { isColumnGap, type PlacedRun } from "./text-runs.js";

/** The runs of a line. */
export type Row = readonly PlacedRun[];

/** Columns have at least so many lines side by side, and their lines so many letters on average; ideographs count twice. */
const [minRows, minLetters] = [4, 18];
/** The gap between two columns is at least so many letter heights wide in all of their lines. */
const minGutter = 0.8;
/** In a column most lines are nearly as long as the longest, and go on with the sentence of the line before. */
const [fullLength, minFullShare, minRunningShare] = [0.75, 0.6, 0.4];

/**
 * Puts the lines of columns that were drawn row by row, so that their sentences are mixed, one column after the other. Rows
 * of tables stay: their cells are of all lengths, or start with capitals and numbers.
 */
export function columnByColumn(rows: readonly Row[]): Row[] {
  const ordered: Row[] = [];
  for (let start = 0; start < rows.length;) {
    const gutter = gutterFrom(rows, start);
    const block = rows.slice(start, Math.max(start + 1, gutter?.endRow ?? 0));
    const sides = gutter && [
      block.map((row) => row.filter((run) => run.start < gutter.left)).filter((row) => row.length > 0),
      block.map((row) => row.filter((run) => run.start >= gutter.left)).filter((row) => row.length > 0),
    ];
    const inOrder = sides?.every(isColumn) ? sides.flatMap(columnByColumn) : block;
    for (const row of inOrder) ordered.push(row);
    start += block.length;
  }
  return ordered;
}

interface Gutter {
  readonly left: number;
  /** The first row after the rows that it spans. */
  readonly endRow: number;
}

/** The gap of a row that runs on down the most rows. */
function gutterFrom(rows: readonly Row[], start: number): Gutter | undefined {
  const row = rows[start]!;
  let longest: Gutter | undefined;
  for (const [index, run] of row.entries()) {
    if (index === 0 || !isColumnGap(row[index - 1]!, run)) continue;
    const gutter = runDown(rows, start, row[index - 1]!.end, run.start);
    if (gutter.endRow > (longest?.endRow ?? 0)) longest = gutter;
  }
  return longest;
}

/** Narrows a gap by each row under it, for as long as it is one. */
function runDown(rows: readonly Row[], start: number, left: number, right: number): Gutter {
  let endRow = start + 1;
  for (; endRow < rows.length; endRow++) {
    const [before, row] = [rows[endRow - 1]!, rows[endRow]!];
    const { base, size } = row[0]!;
    if (base < before[0]!.base - 0.5 * size || base > before[0]!.base + 3 * size) break;
    const middle = (left + right) / 2;
    let [newLeft, newRight] = [left, right];
    for (const run of row) {
      if (run.start < middle) newLeft = Math.max(newLeft, run.end);
      else newRight = Math.min(newRight, run.start);
    }
    if (newRight - newLeft < minGutter * size) break;
    [left, right] = [newLeft, newRight];
  }
  return { left, endRow };
}

function isColumn(rows: readonly Row[]): boolean {
  if (rows.length < minRows) return false;
  const widths = rows.map((row) => row.at(-1)!.end - row[0]!.start);
  const longest = widths.reduce((most, width) => Math.max(most, width), 0);
  const full = widths.filter((width) => width >= fullLength * longest).length;
  const texts = rows.map((row) => row.map(({ text }) => text).join(" "));
  const letters =
    texts
      .join("")
      .replace(/\p{Script=Han}/gu, "$&$&")
      .match(/\p{L}/gu)?.length ?? 0;
  const running = texts.slice(1).filter((text) => /^\s*(?:\p{Ll}|\p{Lo})/u.test(text)).length;
  return (
    full >= minFullShare * rows.length &&
    letters >= minLetters * rows.length &&
    running >= minRunningShare * (rows.length - 1)
  );
}
