/** Terms less alike are no forms of one word. */
const minSimilarity = 0.6;
/** Shorter beginnings are shared by chance. */
const minSharedLetters = 4;

/**
 * How alike two terms are: 1 when they are the same, else the length of the beginning that they share, as a share of the
 * longer one, and 0 for less than 0.6. Catches spellings and forms that stemming keeps apart.
 */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  let shared = 0;
  while (shared < one.length && shared < other.length && one[shared] === other[shared]) shared++;
  const share = shared < minSharedLetters ? 0 : shared / Math.max(one.length, other.length);
  return share < minSimilarity ? 0 : share;
}
