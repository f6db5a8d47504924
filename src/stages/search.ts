import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { Found, Retriever, Store } from "../ports.js";
import type { Embedded, Hit, Question, Retrieved, TraceStep } from "../types.js";
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
});
export type SearchOptions = z.input<typeof SearchOptions>;
export type SearchMode = z.output<typeof SearchOptions>["mode"];

/** Vectors that are looked at for those whose texts meet the phrases and exclusions of a question. */
const deepestDense = 2000;

type Searchable<Space extends string> = Pick<Store<Space>, "space" | "dimension" | "dense" | "lexical" | "hits">;

/**
 * Finds chunks for a question, best first. Chunks with the same text take one place, the best of theirs. Searching by
 * words alone needs no vector, and so no `embedQuestion()`.
 *
 * Where the question has `phrases` or `not`, chunks that do not meet them are left out on each side before the ranks are
 * fused, by their stored text: exact, and with no positions to keep in the index, which would double it. The dense side
 * looks 2,000 deep for those that do.
 */
export function search<Space extends string>(
  store: Searchable<Space>,
  options: SearchOptions & { readonly mode: "lexical" },
): Stage<Question, Retrieved>;
export function search<Space extends string>(
  store: Searchable<Space>,
  options?: SearchOptions,
): Stage<Embedded<Question, Space>, Retrieved>;
export function search<Space extends string>(
  store: Searchable<Space>,
  options: SearchOptions = {},
): Stage<Question & Partial<Embedded<Question, Space>>, Retrieved> {
  const { count, mode, weights } = resolve("search", SearchOptions, options);
  const retrieverOf = (dense: Retriever, lexical: Retriever) =>
    mode === "hybrid"
      ? fused([dense, lexical], weights ? { weights: [weights.dense, weights.lexical] } : {})
      : { dense, lexical }[mode];
  const plain = retrieverOf(store.dense, store.lexical);
  const { space, dimension } = store;
  return mapStage(
    "search",
    async (question, context) => {
      const { vector, space: _, ...asked } = question;
      const { phrases } = asked;
      const refused: Sieve["dropped"] = new Map();
      const refuse = conditionCheck(asked);
      const sieve = refuse && { store, refuse, dropped: refused };
      const retriever = sieve
        ? retrieverOf(sifted(store.dense, sieve, deepestDense), sifted(store.lexical, sieve, Infinity))
        : plain;
      context.signal.throwIfAborted();
      const started = performance.now();
      const found = await retriever.retrieve(
        { text: asked.question, ...(vector && { vector }), ...(phrases && { phrases }) },
        // Some more than are wanted, for those that turn out to say the same.
        { ...remainingTime(context), count: 2 * count, signal: context.signal },
      );
      const { hits, dropped } = await distinctHits(store, found, count);
      const step: TraceStep = {
        step: `search ${mode}`,
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: [...dropped, ...refused.values()],
        milliseconds: performance.now() - started,
      };
      return { ...asked, hits, trace: [step] };
    },
    {
      gives: { hits: count },
      ...(mode !== "lexical" && { takes: dimension === undefined ? { space } : { space, dimension } }),
    },
  );
}

/** The first `count` of what was found that differ in text, with the reasons for the others. */
async function distinctHits(
  store: Pick<Store, "hits">,
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
    for (const hit of await store.hits(slice)) {
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
