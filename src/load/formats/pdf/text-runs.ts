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

/** Lengths in points; `start` and `end` in the direction of reading; a lower line has a larger `base`. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly base: number;
  /** Height of the highest letters. */
  readonly size: number;
}

/** A run with ink, once the page is turned so that its line is level. */
export interface PlacedRun extends Place {
  readonly text: string;
  readonly font: string;
  /** Whether a space stands before it. */
  readonly isSpaced: boolean;
}

/** A gap between two runs is a space from this share of the letters' height. */
const minSpace = 0.15;
/** A gap is wider than a space, as between columns or after a number, from this share of the letters' height. */
const minColumnGap = 1.2;

export function isColumnGap(before: Place, place: Place): boolean {
  return place.start - before.end > minColumnGap * place.size;
}

/** The runs of a line in the order of reading; none where none has ink. */
export function placedRuns(runs: readonly TextRun[]): PlacedRun[] {
  const inked = runs.filter(hasInk);
  const [first] = inked;
  if (!first) return [];
  const letters = (rightToLeft: boolean) =>
    inked.reduce((sum, run) => sum + (run.rightToLeft === rightToLeft ? run.text.length : 0), 0);
  const reversed = letters(true) > letters(false);
  const placed = runs.flatMap((run, index): (PlacedRun & TextRun)[] => {
    if (!hasInk(run)) return [];
    const before = runs[index - 1];
    return [{ ...run, ...placeOf(run, angleOf(first), reversed), isSpaced: before !== undefined && !hasInk(before) }];
  });
  // The cells of a row may be drawn in any order. The reader finds spaces only where a line goes from left to right.
  const isBackwards = (run: Place, index: number) => index > 0 && run.end <= placed[index - 1]!.start + 0.1 * run.size;
  if (!reversed) {
    if (!placed.some(isBackwards)) return placed;
    placed.sort((a, b) => a.start - b.start);
  }
  return placed.map((run, index) => {
    const before = placed[index - 1];
    return { ...run, isSpaced: run.isSpaced || (before !== undefined && areTwoWords(before, run)) };
  });
}

function hasInk({ text }: TextRun): boolean {
  return text.trim() !== "";
}

/** Whether two runs are two words. Where the direction turns, they always are. */
function areTwoWords(before: Place & TextRun, run: Place & TextRun): boolean {
  const gap = Math.max(run.start - before.end, before.start - run.end);
  return before.rightToLeft !== run.rightToLeft || gap > minSpace * run.size;
}

function angleOf({ transform }: TextRun): number {
  return Math.atan2(transform[1]!, transform[0]!);
}

function placeOf({ transform, width }: TextRun, angle: number, reversed: boolean): Place {
  const [, , c, d, x, y] = transform as [number, number, number, number, number, number];
  const along = x * Math.cos(angle) + y * Math.sin(angle);
  const base = x * Math.sin(angle) - y * Math.cos(angle);
  const size = Math.hypot(c, d);
  return reversed
    ? { start: -along - width, end: -along, base, size }
    : { start: along, end: along + width, base, size };
}
