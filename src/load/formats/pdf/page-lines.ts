import { columnByColumn, type Row } from "./columns.js";
import { withoutDuplicateRuns } from "./duplicate-runs.js";
import { isColumnGap, placedRuns, type Place, type TextRun } from "./text-runs.js";

/** A line of a page. */
export interface PageLine extends Place {
  readonly text: string;
  /** Height of most of its letters: an initial or a sign may be higher. */
  readonly letterSize: number;
  /** Ids of the fonts of its letters. */
  readonly fonts: readonly string[];
  /** Number of parts that are as far from each other as the cells of a row. */
  readonly parts: number;
  /** Whether it was added to the finished page, in a form or beside the text. Such a line stands alone. */
  readonly isWritten?: boolean;
}

/**
 * Groups runs into lines, in the order in which the page was written, which is nearly always that of reading; columns that
 * were drawn row by row are put in order.
 */
export function pageLines(runs: readonly TextRun[]): PageLine[] {
  const rows: Row[] = [];
  let open: TextRun[] = [];
  const end = () => {
    const row = placedRuns(open);
    if (row.length > 0) rows.push(row);
    open = [];
  };
  for (const run of withoutDuplicateRuns(runs)) {
    // The mark of a line's end may come as an empty run of its own.
    if (run.text !== "") open.push(run);
    if (run.endsLine) end();
  }
  end();
  return columnByColumn(rows).map(lineOf);
}

function lineOf(runs: Row): PageLine {
  const letterSize = commonest(runs.map(({ size, text }) => [size, text.trim().length]))!;
  let text = "";
  let level = runs[0]!.base;
  for (const run of runs) {
    if (run.isSpaced) text += " ";
    if (run.size > maxPowerSize * letterSize) level = run.base;
    else if (level - run.base > minRise * letterSize && isPower(text, run.text)) text += "^";
    text += run.text;
  }
  return {
    text: text.replace(/\s+/gu, " ").trim(),
    start: runs.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY),
    end: runs.reduce((most, { end }) => Math.max(most, end), Number.NEGATIVE_INFINITY),
    base: runs[0]!.base,
    size: runs.reduce((most, { size }) => Math.max(most, size), 0),
    letterSize,
    fonts: [...new Set(runs.map(({ font }) => font))],
    parts: 1 + runs.filter((run, index) => index > 0 && isColumnGap(runs[index - 1]!, run)).length,
  };
}

/** A power is smaller than the first and raised by the second, as shares of the height of the line's letters. */
const [maxPowerSize, minRise] = [0.85, 0.2];

/** Whether raised letters are a power of what they stand at: without a sign 10⁶ would be 106. */
function isPower(before: string, raised: string): boolean {
  return /[\p{L}\p{N})\]]$/u.test(before) && /^[-\u2212]?\d+\s*$/u.test(raised);
}

/** The value with the most letters in total, the first of equals; `undefined` when there are no letters. */
export function commonest<Value>(parts: Iterable<readonly [value: Value, letters: number]>): Value | undefined {
  const totals = new Map<Value, number>();
  for (const [value, letters] of parts) totals.set(value, (totals.get(value) ?? 0) + letters);
  let [best, most]: [Value | undefined, number] = [undefined, 0];
  for (const [value, letters] of totals) if (letters > most) [best, most] = [value, letters];
  return best;
}
