/** How large a segment is. */
export interface SegmentSize {
  readonly texts: number;
  readonly deadTexts: number;
}

/** Segments of a level that become one: each text is then written again once a level. */
const segmentsPerLevel = 8;
const smallestLevel = 64;

/** Most texts of a merged segment. */
const maxTexts = 2 ** 24;

/** Removed texts of a segment from which it is written without them: a quarter of it, and worth the effort. */
const minDeadTexts = 256;
const maxDeadShare = 0.25;

/**
 * The next segments to merge into one, as indices from `from` to before `to`: a single one that is to lose its removed texts,
 * or neighbours, since labels must ascend. Small segments never stand before larger ones, and there are at most seven of a
 * level. So the number of segments grows with the logarithm of the texts, and so does how often a text is written.
 */
export function segmentsToMerge(
  segments: readonly SegmentSize[],
): { readonly from: number; readonly to: number } | undefined {
  const dead = segments.findIndex(
    ({ texts, deadTexts }) => deadTexts === texts || (deadTexts >= minDeadTexts && deadTexts > maxDeadShare * texts),
  );
  if (dead >= 0) return { from: dead, to: dead + 1 };
  const levels = segments.map(({ texts }) =>
    Math.max(0, Math.floor(Math.log(texts / smallestLevel) / Math.log(segmentsPerLevel))),
  );
  const isSmallEnough = (from: number, to: number) =>
    segments.slice(from, to).reduce((sum, { texts }) => sum + texts, 0) <= maxTexts;
  for (let to = 2; to <= segments.length; to++) {
    let from = to - 1;
    while (from > 0 && levels[from - 1]! < levels[to - 1]!) from--;
    if (from < to - 1 && isSmallEnough(from, to)) return { from, to };
    while (from > 0 && levels[from - 1] === levels[to - 1]) from--;
    if (to - from >= segmentsPerLevel && isSmallEnough(from, to)) return { from, to };
  }
  return undefined;
}
