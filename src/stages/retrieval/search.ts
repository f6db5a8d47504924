import { checkPort, checkStorePart } from "../../core/check-port.js";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { bothFilters, checkFilter, type Filter } from "../../core/filter.js";
import { OptionsError } from "../../core/errors.js";
import { narrowingOption, optionsOf, renamed, resolve } from "../../core/options.js";
import { ownTurn } from "../../core/stream.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import type { Found, RetrievalQuery, RetrieveCall, Retriever, Searchable, Store } from "../../core/ports.js";
import type {
  Embedded,
  Hit,
  Metadata,
  Question,
  QueryVariant,
  RankedList,
  Retrieved,
  TraceStep,
} from "../../core/types.js";
import { conditionCheck } from "../../text/words/phrase-match.js";
import { remainingTime } from "../calls/timed-calls.js";
import { checkedFound, checkedHits } from "./checked-found.js";
import { closenessDepth, closestFirst } from "./closest-first.js";
import { type FusionMethod, fused } from "./fused.js";
import { correctedQuestion } from "./corrected-question.js";
import { namedDepth, namedFirst } from "./named-first.js";

/** Search by vector (`dense`), by words (`lexical`), or by both, fused (`hybrid`). */
export type SearchMode = "hybrid" | "dense" | "lexical";

/** How the sides of a hybrid search become one ranking. */
export interface Fusion {
  /**
   * Whether scores or ranks are fused; see `fused`. Default: `score`, or `rrf` where `k` is given. With vectors of a sentence
   * model, scores ranked better on SciFact's 809 training queries (nDCG@10 0.730 against 0.717).
   */
  readonly method?: FusionMethod;
  /** With `rrf`, how slowly lower ranks lose weight, 0 to 1000; see `fused`. Default: 10. */
  readonly k?: number;
  /** The weight of each side in a hybrid search; 0 or more. Default: 0.7 for vectors, 1 for words; with `rrf` 1 each. */
  readonly weights?: {
    /** Weight of the vector search. */
    readonly dense: number;
    /** Weight of the word search. */
    readonly lexical: number;
    /**
     * Weight of the store's latent model, if it has one. Default: the weight that the store measured when training it,
     * up to 0.4, or 0.2 if it measured nothing; with `rrf` 0.
     */
    readonly latent?: number;
    /**
     * Weight of how close together the question's neighbouring words stand in the best 20 chunks: the gain of a chunk
     * that has them all side by side. 0 or more, on the scale of the other weights but absolute: to double all, double
     * it too. A question of one word is not changed by it. More than 0 is refused unless the search is hybrid and fuses
     * scores. Default: 2.25 times the sum of the weights for vectors and words there.
     */
    readonly closeness?: number;
  };
}

/** `Fields`: the metadata of the store's documents. */
export interface SearchOptions<Fields extends object = Metadata> {
  /** Maximum number of hits. 1 to 1000; default 40. */
  readonly count?: number;
  /** Searches by vector, by words, or by both, fused. Default `hybrid`. */
  readonly mode?: SearchMode;
  /** How the sides of a hybrid search are fused. Default: by their scores. */
  readonly fusion?: Fusion;
  /**
   * Whether a word of a short question that the store does not have is replaced in the search by a word of the store: one that two
   * slips of a typist at most turn into it, for the last word one that it begins, or two words that stand side by side and were
   * typed as one; `Retrieved.searchedFor` then says so. Not in a search by vector alone, nor with a store without `similarWords`. Default: true.
   */
  readonly correct?: boolean;
  /** Restricts the search to matching documents; a question's own `filter` has to match too. Default: all documents. */
  readonly filter?: Filter<Fields>;
}

export const fusionOptions = optionsOf<Fusion>()({
  method: z.enum(["rrf", "score"]).optional(),
  k: z.number().min(0).max(1000).optional(),
  weights: z
    .strictObject({
      dense: z.number().min(0),
      lexical: z.number().min(0),
      latent: z.number().min(0).optional(),
      closeness: z.number().min(0).optional(),
    })
    .optional(),
});

export const searchOptions = renamed(
  optionsOf<SearchOptions>()({
    count: z.int().min(1).max(1000).default(40),
    mode: z.enum(["hybrid", "dense", "lexical"]).default("hybrid"),
    fusion: fusionOptions.prefault({}),
    correct: z.boolean().default(true),
    filter: narrowingOption(z.custom<Filter>()),
  }),
  { k: '"count", or fusion: { k: … }' },
);

/** Vectors' scores weigh less: 0.6 to 0.8 are alike on SciFact's training queries, with vectors of a small sentence model. */
const defaultWeights = { score: { dense: 0.7, lexical: 1 }, rrf: { dense: 1, lexical: 1 } } as const;

/** Weight of a model that was not measured. Ranks of a side that finds everything say little. */
const defaultLatentWeight = { score: 0.2, rrf: 0 } as const;

/**
 * Weight of closeness for each of the weights of both sides. Between 1.4 and 3 ranks alike on eight collections, and with vectors of a
 * small sentence model on SciFact's training queries (benchmarks/quality).
 */
const closenessPerWeight = 2.25;

/** Maximum number of vectors to look through for texts that meet a question's phrases and exclusions. */
const maxDenseCandidates = 2000;

type Searched<Space extends string, Fields extends object> = Pick<
  Searchable<Space, Fields>,
  "space" | "dimension" | "metadataSchema" | "dense" | "lexical" | "latent" | "similarWords" | "hits"
>;

/**
 * Finds chunks for a question, best first. Chunks with the same text take one place, that of the best. A lexical search
 * needs no vector, and so no `embedQuestion()`.
 *
 * A question that is the title, the file name or a heading of a page, in any spelling of its words, brings the best passage of that page
 * first, unless the search is by vector alone. A question such as "What is a span?" brings the passages first that define a span below
 * such a heading.
 *
 * A word of a short question that the store does not have is corrected to a word of the store that it is a slip or two away from, or
 * that it begins if it is the last, or taken apart into two that stand side by side; see `correct`.
 *
 * When the question has `phrases` or `not`, each side drops the chunks that do not meet them before they are fused.
 * The check reads the stored text: it is exact, and saves keeping word positions, which would double the index. The dense
 * side looks at no more than 2,000 chunks for this.
 *
 * @example
 * ```ts
 * import { collect, type Embedder, embedQuestion, Pipeline, type Question, search, type Store } from "citewell";
 * export async function find<Space extends string>(question: string, store: Store<Space>, embed: Embedder<Space>) {
 *   const pipeline = Pipeline.from<Question>().pipe(embedQuestion(embed)).pipe(search(store, { count: 5 }));
 *   const [found] = await collect(pipeline.stream([{ question }]));
 *   return found!.hits;
 * }
 * ```
 */
export function search<Space extends string, Fields extends object = Metadata>(
  store: Searched<Space, Fields>,
  options: SearchOptions<Fields> & { readonly mode: "lexical" },
): Stage<Question, Retrieved>;
export function search<Space extends string, Fields extends object = Metadata>(
  store: Searched<Space, Fields>,
  options?: SearchOptions<Fields>,
): Stage<Embedded<Question, Space>, Retrieved>;
export function search<Space extends string>(
  store: Searched<Space, Metadata>,
  options: SearchOptions = {},
): Stage<Question & Partial<Embedded<Question, Space>>, Retrieved> {
  const { count, mode, fusion, correct, filter: always } = resolve("search", searchOptions, options);
  const { k, method = k === undefined ? "score" : "rrf" } = fusion;
  if (method === "score" && k !== undefined) {
    const message = 'search: fusion.k is about ranks. Leave it out, or fuse ranks with method: "rrf"';
    throw new OptionsError("options", message);
  }
  const ranksByCloseness = mode === "hybrid" && method === "score";
  const { latent: latentWeight, ...weights } = { latent: undefined, ...(fusion.weights ?? defaultWeights[method]) };
  const closenessWeight =
    fusion.weights?.closeness ?? (ranksByCloseness ? closenessPerWeight * (weights.dense + weights.lexical) : 0);
  if (closenessWeight > 0 && !ranksByCloseness) {
    throw new OptionsError(
      "options",
      `search: fusion.weights.closeness is ${closenessWeight}, but only a hybrid search that fuses scores ranks by it. Leave it out, or search with mode: "hybrid" and method: "score"`,
    );
  }
  const closenessCount = closenessWeight > 0 ? Math.max(count, closenessDepth) : count;
  if (always !== undefined) checkFilter("search: filter", always);
  checkStorePart("search", store, ["hits"]);
  for (const side of mode === "hybrid" ? (["dense", "lexical"] as const) : [mode]) {
    checkPort("search", "retriever", store[side], `store.${side}`);
  }
  const { space, dimension } = store;
  return mapStage(
    "search",
    async (question, context) => {
      const { vector, space: _, ...asked } = question;
      if ("filter" in asked && asked.filter === undefined) {
        const message = "the question's filter is undefined: leave it out to search everything";
        throw new OptionsError("options", message, { call: "search", option: "filter" });
      }
      const filter = bothFilters(always, asked.filter);
      // The filter is applied again when hits are read: a retriever that ignores filters must not bypass one.
      const reading = filter === undefined ? {} : { filter };
      const call = { ...remainingTime(context), ...reading, signal: context.signal };
      await ownTurn();
      const started = performance.now();
      const first = await ranking(asked, vector, call);
      // Words in quotes are meant literally.
      const mayCorrect = correct && mode !== "dense" && (asked.phrases ?? []).length === 0;
      const searchedFor = mayCorrect ? await correctedQuestion(asked.question, first.ranked, store, call) : undefined;
      const { ranked, dropped, unread, refused, lists } =
        searchedFor === undefined ? first : await ranking({ ...asked, question: searchedFor }, vector, call);
      const hits = ranked.slice(0, count);
      const step: TraceStep = {
        step: `search ${mode}`,
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: [
          ...dropped,
          ...beyond([...ranked.map(({ chunk }) => chunk.id), ...unread], count),
          ...refused.values(),
        ],
        milliseconds: performance.now() - started,
        ...(searchedFor !== undefined && { note: `searched for: ${searchedFor}` }),
        // Retrievers answer in any order, or not at all; a store may have no use for its latent model.
        lists: lists
          .filter((list) => list !== undefined)
          .filter(({ by, chunkIds }) => chunkIds.length > 0 || !by.startsWith("latent")),
      };
      const trace = [...(asked.trace ?? []), step];
      return { ...asked, hits, trace, ...(searchedFor !== undefined && { searchedFor }) };
    },
    {
      gives: { hits: count },
      ...(mode !== "lexical" && { takes: dimension === undefined ? { space } : { space, dimension } }),
    },
  );

  /** Runs one search: the hits in order, and the reasons why other chunks were dropped. */
  async function ranking(asked: Question, vector: Float32Array | undefined, call: Omit<RetrieveCall, "count">) {
    const depth = mode === "dense" ? 0 : namedDepth(asked.question);
    const readCount = Math.max(closenessCount, depth);
    const refused: Condition["dropped"] = new Map();
    const lists: (RankedList | undefined)[] = [];
    const latent = mode === "hybrid" && store.latent ? await weightOfLatent() : 0;
    const found = await retriever(asked, vector, { latent, dropped: refused, lists }).retrieve(
      { text: asked.question },
      // More than are wanted, since some may turn out to have the same text.
      { ...call, count: 2 * readCount },
    );
    const reading = call.filter === undefined ? {} : { filter: call.filter };
    const { hits, dropped, unread } = await distinctHits(
      async (slice) => checkedHits(await store.hits(slice, reading)),
      found,
      readCount,
    );
    const closest = closestFirst(asked.question, hits, closenessWeight);
    return { ranked: depth > 0 ? namedFirst(asked.question, closest) : closest, dropped, unread, refused, lists };
  }

  async function weightOfLatent(): Promise<number> {
    return (
      latentWeight ?? (method === "score" ? await store.latent?.weight?.() : undefined) ?? defaultLatentWeight[method]
    );
  }

  /** Combines the searches for a question and its variants, on the sides that the mode has, into one retriever. */
  function retriever(
    asked: Question,
    vector: Float32Array | undefined,
    { latent, dropped, lists }: Searching,
  ): Retriever {
    const refuse = conditionCheck(asked);
    const condition = refuse && { store, refuse, dropped };
    const checked = (side: Retriever, maxCandidates: number) =>
      condition ? filterCandidates(side, condition, maxCandidates) : side;
    const sides = {
      dense: checked(store.dense, maxDenseCandidates),
      lexical: checked(store.lexical, Infinity),
      ...(store.latent && latent > 0 && { latent: checked(store.latent, maxDenseCandidates) }),
    };
    const parts: { readonly retriever: Retriever; readonly weight: number }[] = [];
    const { phrases, variants = [] } = asked;
    const own: QueryVariant = { kind: "question", text: asked.question, ...(vector && { vector }) };
    for (const [index, variant] of [own, ...variants].entries()) {
      const { kind, ...query } = { ...variant, ...(phrases && { phrases }) };
      for (const side of mode === "hybrid" ? (["dense", "lexical", "latent"] as const) : [mode]) {
        const searching = sides[side];
        if (!searching || (index > 0 && side === "dense" && !variant.vector)) continue;
        if (side !== "dense" && kind === "passage") continue;
        // All variants together weigh as much as the question: a model that rewrites badly must not outvote it.
        const weight = (side === "latent" ? latent : weights[side]) / (index === 0 ? 1 : variants.length);
        const by = index === 0 ? side : `${side} (variant ${index})`;
        parts.push({ retriever: recorded(searching, by, query, lists), weight });
      }
    }
    const [only, ...others] = parts;
    if (only && others.length === 0) return only.retriever;
    return fused(
      parts.map((part) => part.retriever),
      { method, weights: parts.map(({ weight }) => weight), ...(k !== undefined && { k }) },
    );
  }
}

interface Searching {
  /** Weight of the latent model. */
  readonly latent: number;
  readonly dropped: Condition["dropped"];
  readonly lists: (RankedList | undefined)[];
}

interface Condition {
  readonly store: Pick<Store, "hits">;
  /** Why a chunk has to go; `undefined` when it may stay. */
  readonly refuse: (chunk: Hit["chunk"]) => string | undefined;
  /** Collects each refused chunk once. */
  readonly dropped: Map<string, TraceStep["dropped"][number]>;
}

/** Chunks to read and check before other work gets a turn. */
const checkedPerTurn = 64;

/**
 * A retriever whose results all meet a condition. It asks for four times as many candidates until enough have passed,
 * there are no more, or `maxCandidates` were checked. Results keep the rank that the retriever gave them.
 */
function filterCandidates(retriever: Retriever, condition: Condition, maxCandidates: number): Retriever {
  const { store, refuse, dropped } = condition;
  return {
    name: retriever.name,
    retrieve: async (query, { count, ...call }) => {
      const kept: Found[] = [];
      let checked = 0;
      for (let asked = count; ; asked *= 4) {
        const found = await retriever.retrieve(query, { ...call, count: Math.min(maxCandidates, asked) });
        for (; checked < found.length && kept.length < count; checked += checkedPerTurn) {
          call.signal?.throwIfAborted();
          const next = found.slice(checked, checked + checkedPerTurn);
          const byId = new Map((await store.hits(next)).map(({ chunk }) => [chunk.id, chunk]));
          for (const hit of next) {
            const chunk = byId.get(hit.chunkId);
            const reason = chunk && refuse(chunk);
            if (reason !== undefined) dropped.set(hit.chunkId, { chunkId: hit.chunkId, reason });
            else if (chunk) kept.push(hit);
          }
          await setImmediate();
        }
        if (kept.length >= count || found.length < asked || asked >= maxCandidates) return kept.slice(0, count);
      }
    },
  };
}

/** A retriever that searches for this one query, under this name, and records its ranking in its own place of `lists`. */
function recorded(
  retriever: Retriever,
  by: string,
  query: RetrievalQuery,
  lists: (RankedList | undefined)[],
): Retriever {
  const place = lists.push(undefined) - 1;
  return {
    name: by,
    retrieve: async (_, call) => {
      const found = await checkedFound(retriever, query, call);
      const chunkIds = found.map(({ chunkId }) => chunkId);
      lists[place] = { by, asked: call.count, chunkIds, scores: found.map(({ score }) => score) };
      if (by === retriever.name) return found;
      const labelled = (prefix: string) => by.replace(retriever.name, prefix);
      return found.map((hit) => ({
        ...hit,
        placements: hit.placements.map((placement) => ({ ...placement, by: labelled(placement.by) })),
      }));
    },
  };
}

/** Reads the first `count` results that differ in text, and says which others have the same text and which are not read. */
async function distinctHits(
  read: (found: readonly Found[]) => Promise<readonly Hit[]>,
  found: readonly Found[],
  count: number,
): Promise<{ hits: Hit[]; dropped: TraceStep["dropped"]; unread: readonly string[] }> {
  const hits: Hit[] = [];
  const dropped: TraceStep["dropped"][number][] = [];
  const keptByText = new Map<string, string>();
  let next = 0;
  while (hits.length < count && next < found.length) {
    const slice = found.slice(next, next + count - hits.length);
    next += slice.length;
    for (const hit of await read(slice)) {
      const { id, text } = hit.chunk;
      const kept = keptByText.get(text);
      if (kept === undefined) {
        keptByText.set(text, id);
        hits.push(hit);
      } else dropped.push({ chunkId: id, reason: `same text as ${kept}`, into: kept });
    }
  }
  return { hits, dropped, unread: found.slice(next).map(({ chunkId }) => chunkId) };
}

function beyond(ranked: readonly string[], count: number): TraceStep["dropped"] {
  return ranked
    .slice(count)
    .map((chunkId, index) => ({ chunkId, reason: `ranked ${count + index + 1}, and count is ${count}` }));
}
