import { given } from "../core/given.js";
import { sortedJson } from "../core/json.js";
import type { ModelFolder } from "../knowledge-base/connect-models.js";
import type { RetrievalSettings } from "../knowledge-base/question-options.js";
import type { SearchMode } from "../stages/retrieval/search.js";

/** Settings that are tried, and that `citewell.config.json` can hold. */
export interface TunedSettings {
  /** How documents are cut. */
  readonly chunk: {
    /** Maximum size of a chunk, in tokens. */
    readonly maxTokens: number;
    /** Tokens repeated from the chunk before, 0 or more. Default: as the chunker has it. */
    readonly overlapTokens?: number;
    /** Whether chunks have their title and headings with them. Default: as the chunker has it. */
    readonly contextLine?: boolean;
  };
  /** How passages are found. */
  readonly retrieval: RetrievalSettings;
  /** Models in place of those of the knowledge base. */
  readonly models?: {
    /** Id of the embedding model, or its folder. Default: that of the knowledge base. */
    readonly embedding?: string | ModelFolder;
    /** Id of the reranker. Default: that of the knowledge base. */
    readonly rerank?: string;
  };
}

export interface CandidateRanges {
  readonly chunkSizes: readonly number[];
  /** `undefined`: as the chunker has it for that size. */
  readonly overlaps: readonly (number | undefined)[];
  /** With and without context lines; `undefined`: as the chunker has it. Later ones are tried with the present chunks alone. */
  readonly contextLines: readonly (boolean | undefined)[];
  /** Embedding models beside the present one, tried with the present chunks alone. */
  readonly embeddingModels: readonly (string | ModelFolder)[];
  /** Rerankers; `undefined`: the present one. */
  readonly rerankModels: readonly (string | undefined)[];
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
 * The settings to try, each once: those in use first, then the library's defaults. If there are more than `most`, as many are drawn
 * at random, of every size of chunks alike; those of the present size come first, since they cost no new store.
 *
 * @param defaults `undefined` where the ranges leave them out.
 */
export function candidateSettings(
  present: TunedSettings,
  defaults: TunedSettings | undefined,
  ranges: CandidateRanges,
  most: number,
  random: () => number,
): readonly TunedSettings[] {
  const searches = searchesOf(ranges);
  const shuffled = storesOf(present, ranges).map((store) =>
    shuffle(searches, random).map(({ retrieval, rerank }): TunedSettings => ({
      chunk: store.chunk,
      retrieval,
      ...((store.embedding ?? rerank) !== undefined && {
        models: { ...given({ embedding: store.embedding, rerank }) },
      }),
    })),
  );
  const dealt = searches.flatMap((_, turn) => shuffled.map((ofStore) => ofStore[turn]!));
  const first = defaults === undefined || nameOf(defaults) === nameOf(present) ? [present] : [present, defaults];
  const known = new Set(first.map(nameOf));
  const chosen = dealt.filter((settings) => !known.has(nameOf(settings)) && known.add(nameOf(settings)));
  const cost = (settings: TunedSettings) => (isSameStore(settings, present) ? 0 : 1);
  return [...first, ...chosen.slice(0, most - first.length).toSorted((a, b) => cost(a) - cost(b))];
}

/** Ways to search, each with the reranker that it names. */
function searchesOf({ modes, candidates, passages, withoutRerank, rerankModels }: CandidateRanges) {
  return passages.flatMap((topN): readonly { retrieval: RetrievalSettings; rerank?: string | undefined }[] => [
    ...modes.flatMap((mode) =>
      candidates
        .filter((count) => count >= topN)
        .flatMap((count) => rerankModels.map((rerank) => ({ retrieval: { mode, count, topN, rerank: true }, rerank }))),
    ),
    ...(withoutRerank || candidates.length === 0 ? modes : []).flatMap((mode) => [
      { retrieval: { mode, topN, rerank: false } },
      ...(mode === "hybrid"
        ? otherFusions.map((fusion) => ({ retrieval: { mode, topN, rerank: false, fusion } }))
        : []),
    ]),
  ]);
}

/** Ways to cut and embed the documents. A full product would cost a store for each pair of a size and a model. */
function storesOf(
  present: TunedSettings,
  { chunkSizes, overlaps, contextLines, embeddingModels }: CandidateRanges,
): readonly { readonly chunk: TunedSettings["chunk"]; readonly embedding?: string | ModelFolder }[] {
  const sizes = [...new Set([present.chunk.maxTokens, ...chunkSizes])];
  const [contextLine, ...others] = contextLines;
  const cuts = sizes.flatMap((maxTokens) =>
    overlaps
      .filter((overlapTokens = 0) => overlapTokens <= maxTokens / 4)
      .map((overlapTokens) => ({ chunk: { maxTokens, ...given({ overlapTokens, contextLine }) } })),
  );
  return [
    ...cuts,
    ...others.map((other) => ({ chunk: { ...present.chunk, ...given({ contextLine: other }) } })),
    ...embeddingModels.map((embedding) => ({ chunk: present.chunk, embedding })),
  ];
}

/** Whether documents are cut alike. */
export function isSameCut(one: TunedSettings["chunk"], other: TunedSettings["chunk"]): boolean {
  const contextOf = ({ contextLine = true }: TunedSettings["chunk"]) => contextLine;
  return (
    one.maxTokens === other.maxTokens &&
    one.overlapTokens === other.overlapTokens &&
    contextOf(one) === contextOf(other)
  );
}

/** Whether the same store serves both: documents cut alike, and embedded by the same model. */
export function isSameStore(one: TunedSettings, other: TunedSettings): boolean {
  const embeddingOf = ({ models }: TunedSettings) => sortedJson(models?.embedding ?? "");
  return isSameCut(one.chunk, other.chunk) && embeddingOf(one) === embeddingOf(other);
}

/** One name for settings that are the same. */
export function nameOf(settings: TunedSettings): string {
  return sortedJson(settings);
}

/** The settings in a few words. */
export function describeSettings({ chunk, retrieval, models = {} }: TunedSettings): string {
  const { mode = "hybrid", fusion, count, topN, rerank } = retrieval;
  const { method = fusion?.weights ? "score" : undefined, weights } = fusion ?? {};
  const fusing = method ? ` (${method}${weights ? ` ${weights.dense}:${weights.lexical}` : ""})` : "";
  const reranked = rerank ? `, ${count} reranked${models.rerank ? ` by ${models.rerank}` : ""}` : ", not reranked";
  const overlap = chunk.overlapTokens === undefined ? "" : ` (overlap ${chunk.overlapTokens})`;
  const alone = chunk.contextLine === false ? " without context lines" : "";
  const model = typeof models.embedding === "object" ? models.embedding.folder : models.embedding;
  const embedded = model === undefined ? "" : `, embedded by ${model}`;
  return `chunks of ${chunk.maxTokens}${overlap}${alone}${embedded}, ${mode}${fusing}${reranked}, ${topN} passages`;
}

function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, draw: random() }))
    .toSorted((a, b) => a.draw - b.draw)
    .map(({ item }) => item);
}
