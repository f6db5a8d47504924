/** Shorter beginnings are shared by chance. */
const shortestBeginning = 4;

/**
 * How far a set of terms holds a term: 1 when it does, else the longest beginning it shares with one of them, as a share
 * of the longer of the two. Catches spellings and forms that stemming keeps apart.
 */
export function alikeness(term: string, held: ReadonlySet<string>): number {
  if (held.has(term)) return 1;
  if (term.length < shortestBeginning) return 0;
  let best = 0;
  for (const other of held) {
    let shared = 0;
    while (shared < term.length && shared < other.length && term[shared] === other[shared]) shared++;
    if (shared >= shortestBeginning) best = Math.max(best, shared / Math.max(term.length, other.length));
  }
  return best;
}

/** Share of the weight whose terms a text holds, words of the same beginning in part: a text says "centre" for "center". */
export function likeShare(weights: ReadonlyMap<string, number>, held: ReadonlySet<string>): number {
  let covered = 0;
  let total = 0;
  for (const [term, weight] of weights) {
    total += weight;
    covered += weight * alikeness(term, held);
  }
  return total === 0 ? 1 : covered / total;
}
