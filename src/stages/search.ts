import { z } from "zod";
import { bothFilters, checkFilter, type Filter } from "../filter.js";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { Found, RetrievalQuery, Retriever, Searchable } from "../ports.js";
import type { Embedded, Hit, Metadata, Question, QueryVariant, RankedList, Retrieved, TraceStep } from "../types.js";
import { conditionCheck } from "../text/phrase-match.js";
import { fused } from "./fused.js";
import { remainingTime } from "./remaining-time.js";
import { sifted, type Sieve } from "./sift.js";

export const SearchOptions = z.strictObject({
  /** Most hits. 1 to 1000; default 40. */
  count: z.int().min(1).max(1000).default(40),
  /** By vector, by words, or both with their ranks fused. Default `hybrid`. */
  mode: z.enum(["hybrid", "dense", "lexical"]).default("hybrid"),
  /** What each side's word is worth in a hybrid search; 0 or more. Default: 1 each. */
  weights: z.strictObject({ dense: z.number().min(0), lexical: z.number().min(0) }).optional(),
  /** How slowly a place further down loses worth where ranks are fused, 0 to 1000; see `fused`. Default: 10. */
  k: z.number().min(0).max(1000).optional(),
  /** Only of documents that it lets through; a question's own `filter` has to hold too. Default: of all. */
  filter: z.custom<Filter>().optional(),
});
/** `Fields`: what metadata the store's documents have. */
export type SearchOptions<Fields extends object = Metadata> = Omit<z.input<typeof SearchOptions>, "filter"> & {
  readonly filter?: Filter<Fields>;
};
export type SearchMode = z.output<typeof SearchOptions>["mode"];

/** Vectors that are looked at for those whose texts meet the phrases and exclusions of a question. */
const deepestDense = 2000;

type Searched<Space extends string, Fields extends object> = Pick<
  Searchable<Space, Fields>,
  "space" | "dimension" | "metadataSchema" | "dense" | "lexical" | "hits"
>;

/**
 * Finds chunks for a question, best first. Chunks with the same text take one place, the best of theirs. Searching by
 * words alone needs no vector, and so no `embedQuestion()`.
 *
 * Where the question has `phrases` or `not`, chunks that do not meet them are left out on each side before the ranks are
 * fused, by their stored text: exact, and with no positions to keep in the index, which would double it. The dense side
 * looks 2,000 deep for those that do.
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
  const { count, mode, weights, k, filter: always } = resolve("search", SearchOptions, options);
  if (always !== undefined) checkFilter("search: filter", always);
  const { space, dimension } = store;
  return mapStage(
    "search",
    async (question, context) => {
      const { vector, space: _, ...asked } = question;
      const filter = bothFilters(always, asked.filter);
      // Asked once more of what was found: a retriever that does not know of filters must not get round one.
      const reading = filter ? { filter } : {};
      const started = performance.now();
      const refused: Sieve["dropped"] = new Map();
      const lists: (RankedList | undefined)[] = [];
      const found = await retriever(asked, vector, { dropped: refused, lists }).retrieve(
        { text: asked.question },
        // Some more than are wanted, for those that turn out to say the same.
        { ...remainingTime(context), ...reading, count: 2 * count, signal: context.signal },
      );
      const { hits, dropped } = await distinctHits((slice) => store.hits(slice, reading), found, count);
      const step: TraceStep = {
        step: `search ${mode}`,
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: [...dropped, ...refused.values()],
        milliseconds: performance.now() - started,
        // Retrievers answer in any order.
        lists: lists.filter((list) => list !== undefined),
      };
      return { ...asked, hits, trace: [...(asked.trace ?? []), step] };
    },
    {
      gives: { hits: count },
      ...(mode !== "lexical" && { takes: dimension === undefined ? { space } : { space, dimension } }),
    },
  );

  /** One retriever for a question: its words and vector on the sides that the mode has, and those of its variants. */
  function retriever(
    asked: Question,
    vector: Float32Array | undefined,
    { dropped, lists }: { readonly dropped: Sieve["dropped"]; readonly lists: (RankedList | undefined)[] },
  ): Retriever {
    const refuse = conditionCheck(asked);
    const sieve = refuse && { store, refuse, dropped };
    const sides = {
      dense: sieve ? sifted(store.dense, sieve, deepestDense) : store.dense,
      lexical: sieve ? sifted(store.lexical, sieve, Infinity) : store.lexical,
    };
    const parts: { readonly retriever: Retriever; readonly weight: number }[] = [];
    const { phrases, variants = [] } = asked;
    const own: QueryVariant = { kind: "question", text: asked.question, ...(vector && { vector }) };
    for (const [index, variant] of [own, ...variants].entries()) {
      const { kind, ...query } = { ...variant, ...(phrases && { phrases }) };
      for (const side of mode === "hybrid" ? (["dense", "lexical"] as const) : [mode]) {
        if (index > 0 && side === "dense" && !variant.vector) continue;
        if (side === "lexical" && kind === "passage") continue;
        // All variants together weigh what the question does: a model that rewrites badly must not outvote it.
        const weight = (weights?.[side] ?? 1) / (index === 0 ? 1 : variants.length);
        const by = index === 0 ? side : `${side} (variant ${index})`;
        parts.push({ retriever: asking(sides[side], { by, query, lists, place: parts.length }), weight });
      }
    }
    const [only, ...others] = parts;
    if (only && others.length === 0) return only.retriever;
    return fused(
      parts.map((part) => part.retriever),
      { weights: parts.map(({ weight }) => weight), ...(k !== undefined && { k }) },
    );
  }
}

interface Asking {
  readonly by: string;
  readonly query: RetrievalQuery;
  /** Gets what was found, at `place`. */
  readonly lists: (RankedList | undefined)[];
  readonly place: number;
}

/** A retriever that is asked this one query under this name. */
function asking(retriever: Retriever, { by, query, lists, place }: Asking): Retriever {
  return {
    name: by,
    retrieve: async (_, call) => {
      const found = await retriever.retrieve(query, call);
      const chunkIds = found.map(({ chunkId }) => chunkId);
      lists[place] = { by, asked: call.count, chunkIds, scores: found.map(({ score }) => score) };
      if (by === retriever.name) return found;
      return found.map((each) => ({
        ...each,
        placements: each.placements.map((placement) => ({
          ...placement,
          by: by.replace(retriever.name, placement.by),
        })),
      }));
    },
  };
}

/** The first `count` of what was found that differ in text, with the reasons for the others. */
async function distinctHits(
  read: (found: readonly Found[]) => Promise<readonly Hit[]>,
  found: readonly Found[],
  count: number,
): Promise<{ hits: Hit[]; dropped: TraceStep["dropped"] }> {
  const hits: Hit[] = [];
  const dropped: { chunkId: string; reason: string }[] = [];
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
      } else dropped.push({ chunkId: id, reason: `same text as ${kept}` });
    }
  }
  for (let at = next; at < found.length; at++) {
    dropped.push({ chunkId: found[at]!.chunkId, reason: `ranked ${at + 1}, and count is ${count}` });
  }
  return { hits, dropped };
}
