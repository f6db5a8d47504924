import type { TextRun } from "./text-runs.js";

/** A reprint, for weight or shadow, lies within this share of its height, or of its width if that is less. */
const maxDistance = 0.5;
/** A gap in the reader's estimate of where letters within a run lie, as a share of their height. */
const tolerance = 0.35;

/** Empties the runs that print the same text over an earlier run, and takes off a start that does. */
export function withoutDuplicateRuns(runs: readonly TextRun[]): TextRun[] {
  /** Runs by text, then by position in steps of a line height, so that only runs close to each other are compared. */
  const printed = new Map<string, Map<string, TextRun[]>>();
  let before: TextRun | undefined;
  return runs.map((run) => {
    if (run.text.trim() === "") return run;
    const places = printed.get(run.text) ?? new Map<string, TextRun[]>();
    const isNear = (place: string) => places.get(place)?.some((other) => distance(other, run) < reach(run));
    if (places.size > 0 && nearby(run).some(isNear)) return { ...run, text: "" };
    const place = placeOf(run, 0, 0);
    places.set(place, [...(places.get(place) ?? []), run]);
    printed.set(run.text, places);
    const shared = before ? sharedLetters(before, run) : 0;
    before = run;
    if (shared === 0) return run;
    const shift = (run.width * shared) / run.text.length;
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = run.transform;
    const scale = shift / (Math.hypot(a, b) || 1);
    const transform = [a, b, c, d, x + a * scale, y + b * scale];
    return { ...run, text: run.text.slice(shared), transform, width: run.width - shift };
  });
}

/** The number of letters at the start of a run that were printed at the end of the one before it, in the same place. */
function sharedLetters(before: TextRun, run: TextRun): number {
  const overlap = before.transform[4]! + before.width - run.transform[4]!;
  const isLevel = run.transform[1] === 0 && Math.abs(before.transform[5]! - run.transform[5]!) < reach(run);
  if (!isLevel || overlap <= 0) return 0;
  const last = Math.min(before.text.length, run.text.length);
  for (let letters = last; letters > 0; letters--) {
    const width = (before.width * letters) / before.text.length;
    const isThere = Math.abs(width - overlap) < tolerance * heightOf(run);
    if (isThere && before.text.endsWith(run.text.slice(0, letters))) return letters;
  }
  return 0;
}

function heightOf({ transform }: TextRun): number {
  return Math.hypot(transform[2]!, transform[3]!) || 1;
}

function reach(run: TextRun): number {
  return maxDistance * Math.min(heightOf(run), run.width || heightOf(run));
}

function distance(a: TextRun, b: TextRun): number {
  return Math.hypot(a.transform[4]! - b.transform[4]!, a.transform[5]! - b.transform[5]!);
}

function placeOf(run: TextRun, right: number, down: number): string {
  const [, , , , x = 0, y = 0] = run.transform;
  return `${Math.round(x / heightOf(run)) + right} ${Math.round(y / heightOf(run)) + down}`;
}

function nearby(run: TextRun): string[] {
  const steps = [-1, 0, 1];
  return steps.flatMap((right) => steps.map((down) => placeOf(run, right, down)));
}
