/** A run of characters as the PDF reader gives it: where its baseline starts, and how far it goes along that. */
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

/** A line of a page. Lengths in points; `start` and `end` along the direction of reading, `base` against it: lower lines have more. */
export interface PageLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly base: number;
  /** Height of its highest letters. */
  readonly size: number;
  /** Height that most of its letters have: an initial or a sign may be higher. */
  readonly letterSize: number;
  /** Ids of the fonts that it has letters in. */
  readonly fonts: readonly string[];
  /** Parts that stand as far from one another as the cells of a row do. */
  readonly parts: number;
}

type Place = Pick<PageLine, "start" | "end" | "base" | "size">;

/** Share of the letters' height from which a gap between two runs is a space. */
const leastSpace = 0.15;
/** Share of the letters' height from which a gap is more than a space: that between two columns, or behind a number. */
const leastColumnGap = 1.2;

/** The lines of a page, in the order in which the page was written, which is nearly always that of reading. */
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

/** A letter printed again is bold or has a shadow: it comes soon after, and as far away as this share of its height. */
const [reprintDistance, reprintRuns] = [0.2, 20];

/** The runs, those empty that print over an earlier one what it says. */
function withoutReprints(runs: readonly TextRun[]): TextRun[] {
  return runs.map((run, index) => {
    const isReprint =
      run.text.trim() !== "" &&
      runs.slice(Math.max(0, index - reprintRuns), index).some((before) => isPrintedOver(before, run));
    return isReprint ? { ...run, text: "" } : run;
  });
}

function isPrintedOver(before: TextRun, { text, transform }: TextRun): boolean {
  if (before.text !== text) return false;
  const [, , c, d, x, y] = transform as [number, number, number, number, number, number];
  const distance = Math.hypot(x - before.transform[4]!, y - before.transform[5]!);
  return distance < reprintDistance * Math.hypot(c, d);
}

function lineOf(runs: readonly TextRun[]): PageLine | undefined {
  const inked = runs.filter(({ text }) => text.trim() !== "");
  const [first] = inked;
  if (!first) return undefined;
  const letters = (rightToLeft: boolean) =>
    inked.reduce((sum, run) => sum + (run.rightToLeft === rightToLeft ? run.text.length : 0), 0);
  const reversed = letters(true) > letters(false);
  const places = inked.map((run) => placeOf(run, angleOf(first), reversed));
  const letterSize = commonest(
    inked.map((run, index) => ({ size: places[index]!.size, letters: run.text.trim().length })),
  );
  const placed = new Map(inked.map((run, index) => [run, places[index]!]));
  let text = "";
  let level = places[0]!.base;
  for (const [index, run] of runs.entries()) {
    // The reader finds the spaces of lines from left to right itself.
    if (reversed && index > 0 && areApart(runs[index - 1]!, run)) text += " ";
    const place = placed.get(run);
    if (place && place.size > mostPower * letterSize) level = place.base;
    else if (place && level - place.base > leastRise * letterSize && isPower(text, run.text)) text += "^";
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

/** Of the line's letters, shares of their height: a power is smaller than the one, and raised by the other. */
const [mostPower, leastRise] = [0.85, 0.2];

/** Whether raised letters are a power of what they stand at: without a sign 10⁶ would be 106. */
function isPower(before: string, raised: string): boolean {
  return /[\p{L}\p{N})\]]$/u.test(before) && /^[-\u2212]?\d+\s*$/u.test(raised);
}

function isColumnGap(before: Place, place: Place): boolean {
  return place.start - before.end > leastColumnGap * place.size;
}

function commonest(parts: readonly { readonly size: number; readonly letters: number }[]): number {
  const letters = new Map<number, number>();
  for (const part of parts) letters.set(part.size, (letters.get(part.size) ?? 0) + part.letters);
  return [...letters].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
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
function areApart(before: TextRun, run: TextRun): boolean {
  return before.rightToLeft !== run.rightToLeft || gapBetween(before, run) > leastSpace;
}

/** The gap between two runs of a level line, as a share of the letters' height. */
function gapBetween(a: TextRun, b: TextRun): number {
  const [left, right] = a.transform[4]! <= b.transform[4]! ? [a, b] : [b, a];
  return (
    (right.transform[4]! - left.transform[4]! - left.width) / (Math.hypot(left.transform[2]!, left.transform[3]!) || 1)
  );
}
