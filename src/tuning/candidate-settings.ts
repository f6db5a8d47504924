import { sortedJson } from "../core/json.js";
import type { RetrievalSettings } from "../knowledge-base/question-options.js";
import type { SearchMode } from "../stages/retrieval/search.js";

/** Settings that are tried, and that `citewell.config.json` can hold. */
export interface TunedSettings {
  /** How documents are cut. */
  readonly chunk: {
    /** Maximum size of a chunk, in tokens. */
    readonly maxTokens: number;
    /** Tokens repeated from the chunk before. Default: as the chunker has it. */
    readonly overlapTokens?: number;
  };
  /** How passages are found. */
  readonly retrieval: RetrievalSettings;
}

export interface CandidateRanges {
  readonly chunkSizes: readonly number[];
  /** `undefined`: as the chunker has it for that size. */
  readonly overlaps: readonly (number | undefined)[];
  readonly modes: readonly SearchMode[];
  /** Numbers of candidates for the reranker; empty without one. */
  readonly candidates: readonly number[];
  /** Numbers of passages that an answer is made from. */
  readonly passages: readonly number[];
  /** Whether to try without the reranker. */
  readonly withoutRerank: boolean;
}

/** Fusions of a hybrid search beside that of the knowledge base: by scores with equal weights, and by ranks. */
const otherFusions = [{ method: "score", weights: { dense: 1, lexical: 1 } }, { method: "rrf" }] as const;

/**
 * The settings to try, those in use first and each once. If there are more than `most`, as many are drawn at random, of every size
 * of chunks alike; those of the present size come first, since they cost no new store.
 */
export function candidateSettings(
  present: TunedSettings,
  { chunkSizes, overlaps, modes, candidates, passages, withoutRerank }: CandidateRanges,
  most: number,
  random: () => number,
): readonly TunedSettings[] {
  const searches = passages.flatMap((topN): RetrievalSettings[] => [
    ...modes.flatMap((mode) =>
      candidates.filter((count) => count >= topN).map((count) => ({ mode, count, topN, rerank: true })),
    ),
    ...(withoutRerank || candidates.length === 0 ? modes : []).flatMap((mode) => [
      { mode, topN, rerank: false },
      ...(mode === "hybrid" ? otherFusions.map((fusion) => ({ mode, topN, rerank: false, fusion })) : []),
    ]),
  ]);
  const sizes = [...new Set([present.chunk.maxTokens, ...chunkSizes])];
  const cuts = sizes.flatMap((maxTokens) =>
    overlaps
      .filter((overlapTokens = 0) => overlapTokens <= maxTokens / 4)
      .map((overlapTokens) => ({ maxTokens, ...(overlapTokens !== undefined && { overlapTokens }) })),
  );
  const shuffled = cuts.map((chunk) => shuffle(searches, random).map((retrieval) => ({ chunk, retrieval })));
  const dealt = shuffled[0]?.flatMap((_, turn) => shuffled.map((ofCut) => ofCut[turn]!)) ?? [];
  const known = new Set([nameOf(present)]);
  const chosen = dealt.filter((settings) => !known.has(nameOf(settings)) && known.add(nameOf(settings)));
  const cost = ({ chunk }: TunedSettings) => (sameCut(chunk, present.chunk) ? 0 : 1);
  return [present, ...chosen.slice(0, most - 1).toSorted((a, b) => cost(a) - cost(b))];
}

export function sameCut(one: TunedSettings["chunk"], other: TunedSettings["chunk"]): boolean {
  return one.maxTokens === other.maxTokens && one.overlapTokens === other.overlapTokens;
}

/** One name for settings that are the same. */
export function nameOf(settings: TunedSettings): string {
  return sortedJson(settings);
}

/** The settings in a few words. */
export function describeSettings({ chunk, retrieval }: TunedSettings): string {
  const { mode = "hybrid", fusion, count, topN, rerank } = retrieval;
  const { method = fusion?.weights ? "score" : undefined, weights } = fusion ?? {};
  const fusing = method ? ` (${method}${weights ? ` ${weights.dense}:${weights.lexical}` : ""})` : "";
  const reranked = rerank ? `, ${count} reranked` : ", not reranked";
  const overlap = chunk.overlapTokens === undefined ? "" : ` (overlap ${chunk.overlapTokens})`;
  return `chunks of ${chunk.maxTokens}${overlap}, ${mode}${fusing}${reranked}, ${topN} passages`;
}

function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, draw: random() }))
    .toSorted((a, b) => a.draw - b.draw)
    .map(({ item }) => item);
}
