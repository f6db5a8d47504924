const counts = ["limit", "topN", "count"];
/** What other libraries call it. */
const otherNames = new Map([
  ["topk", counts],
  ["k", counts],
  ["n", counts],
  ["size", counts],
  ["content", ["text"]],
  ["query", ["question"]],
]);

/**
 * The known name that was probably meant: the same but for case and underscores, one that contains the other
 * (`abortSignal`, `signal`), what other libraries call it, or the one that the fewest typing errors lead to, at most one
 * in three letters.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const other = otherNames.get(given)?.find((candidate) => known.includes(candidate));
  if (other !== undefined) return other;
  let nearest: string | undefined;
  let fewest = Math.floor(given.length / 3) + 0.5;
  for (const candidate of known) {
    const letters = plain(candidate);
    const isWithin =
      Math.min(letters.length, given.length) >= 4 && (letters.includes(given) || given.includes(letters));
    const typed = typingErrors(given, letters);
    // Of several that contain it or that it contains, the one with the fewest other letters.
    const errors = isWithin ? typed / 1000 : typed;
    if (errors >= fewest) continue;
    fewest = errors;
    nearest = candidate;
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Letters to add, drop, replace or swap with their neighbour (Damerau and Levenshtein, each place touched once). */
function typingErrors(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let errors = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        errors = Math.min(errors, before[j - 2]! + 1);
      }
      next.push(errors);
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}
