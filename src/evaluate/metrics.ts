/** How relevant documents are to one query, by document id: 0 or less is not relevant, more is more relevant. */
export type Judgements = ReadonlyMap<string, number>;

// Every measure takes document ids best first, each at most once; what is not judged is not relevant. All are 0 to 1,
// and 0 where nothing is relevant.

/**
 * Normalised discounted cumulative gain of the first `k`: the gain of a document is its judged score, discounted by
 * log2(rank + 1), over the same sum for the best order of all judged documents. Järvelin and Kekäläinen, "Cumulated
 * gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, with the discount of trec_eval.
 */
export function ndcg(ranking: readonly string[], judgements: Judgements, k: number): number {
  const ideal = discountedGain(
    [...judgements.values()].toSorted((a, b) => b - a),
    k,
  );
  const gains = ranking.slice(0, k).map((id) => judgements.get(id) ?? 0);
  return ideal === 0 ? 0 : discountedGain(gains, k) / ideal;
}

function discountedGain(gains: readonly number[], k: number): number {
  return gains.slice(0, k).reduce((sum, gain, index) => sum + Math.max(0, gain) / Math.log2(index + 2), 0);
}

/** Share of the relevant documents that are among the first `k`. */
export function recall(ranking: readonly string[], judgements: Judgements, k: number): number {
  const relevant = countRelevant(judgements);
  const found = ranking.slice(0, k).filter((id) => isRelevant(judgements, id)).length;
  return relevant === 0 ? 0 : found / relevant;
}

/** One over the rank of the first relevant document among the first `k`. */
export function reciprocalRank(ranking: readonly string[], judgements: Judgements, k: number): number {
  const index = ranking.slice(0, k).findIndex((id) => isRelevant(judgements, id));
  return index === -1 ? 0 : 1 / (index + 1);
}

/** Precision at the rank of each relevant document, averaged over all of them; one that is not ranked counts 0. */
export function averagePrecision(ranking: readonly string[], judgements: Judgements): number {
  const relevant = countRelevant(judgements);
  let found = 0;
  let sum = 0;
  for (const [index, id] of ranking.entries()) {
    if (!isRelevant(judgements, id)) continue;
    found++;
    sum += found / (index + 1);
  }
  return relevant === 0 ? 0 : sum / relevant;
}

export function countRelevant(judgements: Judgements): number {
  return [...judgements.values()].filter((score) => score > 0).length;
}

function isRelevant(judgements: Judgements, id: string): boolean {
  return (judgements.get(id) ?? 0) > 0;
}
