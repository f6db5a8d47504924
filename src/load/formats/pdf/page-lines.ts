/** A run of characters from the PDF reader, with the start and length of its baseline. */
export interface TextRun {
  readonly text: string;
  /** The text matrix: `[a, b, c, d, x, y]`, in points, y upwards. */
  readonly transform: readonly number[];
  /** Along the baseline. */
  readonly width: number;
  readonly endsLine: boolean;
  readonly rightToLeft: boolean;
  /** Id of its font. */
  readonly font: string;
}

/** A line of a page. Lengths in points; `start` and `end` in the direction of reading; a lower line has a larger `base`. */
export interface PageLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly base: number;
  /** Height of its highest letters. */
  readonly size: number;
  /** Height of most of its letters: an initial or a sign may be higher. */
  readonly letterSize: number;
  /** Ids of the fonts of its letters. */
  readonly fonts: readonly string[];
  /** Number of parts that are as far from each other as the cells of a row. */
  readonly parts: number;
}

type Place = Pick<PageLine, "start" | "end" | "base" | "size">;

/** A gap between two runs is a space from this share of the letters' height. */
const minSpace = 0.15;
/** A gap is wider than a space, as between columns or after a number, from this share of the letters' height. */
const minColumnGap = 1.2;

/** Groups runs into lines, in the order in which the page was written, which is nearly always that of reading. */
export function pageLines(runs: readonly TextRun[]): PageLine[] {
  const lines: PageLine[] = [];
  let open: TextRun[] = [];
  const end = () => {
    const line = lineOf(open);
    if (line) lines.push(line);
    open = [];
  };
  for (const run of withoutReprints(runs)) {
    // The mark of a line's end may come as an empty run of its own.
    if (run.text !== "") open.push(run);
    if (run.endsLine) end();
  }
  end();
  return lines;
}

/** A letter printed again, for weight or shadow, comes within so many runs and this share of its height. */
const [maxReprintDistance, maxReprintRuns] = [0.2, 20];

/** Empties the runs that print the same text over an earlier run. */
function withoutReprints(runs: readonly TextRun[]): TextRun[] {
  return runs.map((run, index) => {
    const isReprint =
      run.text.trim() !== "" &&
      runs.slice(Math.max(0, index - maxReprintRuns), index).some((before) => isPrintedOver(before, run));
    return isReprint ? { ...run, text: "" } : run;
  });
}

function isPrintedOver(before: TextRun, { text, transform }: TextRun): boolean {
  if (before.text !== text) return false;
  const [, , c, d, x, y] = transform as [number, number, number, number, number, number];
  const distance = Math.hypot(x - before.transform[4]!, y - before.transform[5]!);
  return distance < maxReprintDistance * Math.hypot(c, d);
}

function lineOf(runs: readonly TextRun[]): PageLine | undefined {
  const inked = runs.filter(({ text }) => text.trim() !== "");
  const [first] = inked;
  if (!first) return undefined;
  const letters = (rightToLeft: boolean) =>
    inked.reduce((sum, run) => sum + (run.rightToLeft === rightToLeft ? run.text.length : 0), 0);
  const reversed = letters(true) > letters(false);
  const places = inked.map((run) => placeOf(run, angleOf(first), reversed));
  const letterSize = commonest(inked.map((run, index) => [places[index]!.size, run.text.trim().length]))!;
  const placed = new Map(inked.map((run, index) => [run, places[index]!]));
  let text = "";
  let level = places[0]!.base;
  for (const [index, run] of runs.entries()) {
    // The reader finds the spaces of lines from left to right itself.
    if (reversed && index > 0 && areTwoWords(runs[index - 1]!, run)) text += " ";
    const place = placed.get(run);
    if (place && place.size > maxPowerSize * letterSize) level = place.base;
    else if (place && level - place.base > minRise * letterSize && isPower(text, run.text)) text += "^";
    text += run.text;
  }
  return {
    text: text.replace(/\s+/gu, " ").trim(),
    start: places.reduce((least, place) => Math.min(least, place.start), Number.POSITIVE_INFINITY),
    end: places.reduce((most, place) => Math.max(most, place.end), Number.NEGATIVE_INFINITY),
    base: places[0]!.base,
    size: places.reduce((most, place) => Math.max(most, place.size), 0),
    letterSize,
    fonts: [...new Set(inked.map(({ font }) => font))],
    parts: 1 + places.filter((place, index) => index > 0 && isColumnGap(places[index - 1]!, place)).length,
  };
}

/** A power is smaller than the first and raised by the second, as shares of the height of the line's letters. */
const [maxPowerSize, minRise] = [0.85, 0.2];

/** Whether raised letters are a power of what they stand at: without a sign 10⁶ would be 106. */
function isPower(before: string, raised: string): boolean {
  return /[\p{L}\p{N})\]]$/u.test(before) && /^[-\u2212]?\d+\s*$/u.test(raised);
}

function isColumnGap(before: Place, place: Place): boolean {
  return place.start - before.end > minColumnGap * place.size;
}

/** The value with the most letters in total, the first of equals; `undefined` when there are no letters. */
export function commonest<Value>(parts: Iterable<readonly [value: Value, letters: number]>): Value | undefined {
  const totals = new Map<Value, number>();
  for (const [value, letters] of parts) totals.set(value, (totals.get(value) ?? 0) + letters);
  let [best, most]: [Value | undefined, number] = [undefined, 0];
  for (const [value, letters] of totals) if (letters > most) [best, most] = [value, letters];
  return best;
}

function angleOf({ transform }: TextRun): number {
  return Math.atan2(transform[1]!, transform[0]!);
}

/** Where a run lies once the page is turned so that its line is level. */
function placeOf({ transform, width }: TextRun, angle: number, reversed: boolean): Place {
  const [, , c, d, x, y] = transform as [number, number, number, number, number, number];
  const along = x * Math.cos(angle) + y * Math.sin(angle);
  const base = x * Math.sin(angle) - y * Math.cos(angle);
  const size = Math.hypot(c, d);
  return reversed
    ? { start: -along - width, end: -along, base, size }
    : { start: along, end: along + width, base, size };
}

/** Whether two runs of a line from right to left are two words. Where the direction turns, they always are. */
function areTwoWords(before: TextRun, run: TextRun): boolean {
  return before.rightToLeft !== run.rightToLeft || gapBetween(before, run) > minSpace;
}

/** The gap between two runs of a level line, as a share of the letters' height. */
function gapBetween(a: TextRun, b: TextRun): number {
  const [left, right] = a.transform[4]! <= b.transform[4]! ? [a, b] : [b, a];
  return (
    (right.transform[4]! - left.transform[4]! - left.width) / (Math.hypot(left.transform[2]!, left.transform[3]!) || 1)
  );
}
