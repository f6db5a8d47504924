import fc from "fast-check";
import { expect, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import { Pipeline } from "../../../src/core/pipeline.js";
import { diversify, marginalOrder } from "../../../src/stages/retrieval/diversify.js";
import { collect } from "../../../src/core/stream.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import type { Hit, Retrieved } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordVector } from "../../support/word-embedder.js";

/** Follows the formula literally: everything is computed anew for every choice. */
function slowOrder(
  relevance: readonly number[],
  vectors: readonly (Float32Array | undefined)[],
  lambda: number,
  count: number,
) {
  const cosine = (a?: Float32Array, b?: Float32Array) => {
    if (!a || !b) return 0;
    const dot = a.reduce((sum, value, at) => sum + value * b[at]!, 0);
    const lengths =
      Math.sqrt(a.reduce((sum, value) => sum + value * value, 0)) *
      Math.sqrt(b.reduce((sum, value) => sum + value * value, 0));
    return lengths > 0 ? dot / lengths : 0;
  };
  const chosen: number[] = [];
  while (chosen.length < Math.min(count, relevance.length)) {
    const values = relevance.map((value, index) => {
      if (chosen.includes(index)) return -Infinity;
      const nearest =
        chosen.length === 0 ? 0 : Math.max(...chosen.map((other) => cosine(vectors[index], vectors[other])));
      return lambda * value - (1 - lambda) * nearest;
    });
    chosen.push(values.indexOf(Math.max(...values)));
  }
  return chosen;
}

test("the order follows the formula, whatever the scores and vectors", () => {
  const vector = fc.option(
    fc
      .array(fc.integer({ min: -3, max: 3 }), { minLength: 4, maxLength: 4 })
      .map((numbers) => Float32Array.from(numbers)),
    { nil: undefined },
  );
  const item = fc.record({ relevance: fc.integer({ min: 0, max: 8 }).map((value) => value / 8), vector });
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 12 }),
      fc.integer({ min: 0, max: 4 }).map((value) => value / 4),
      fc.integer({ min: 1, max: 12 }),
      (items, lambda, count) => {
        const relevance = items.map((each) => each.relevance);
        const vectors = items.map((each) => each.vector);
        const order = marginalOrder(relevance, vectors, { lambda, count }).map(({ index }) => index);
        expect(order).toEqual(slowOrder(relevance, vectors, lambda, count));
      },
    ),
    { numRuns: 500 },
  );
});

async function found(...texts: readonly string[]) {
  const store = memoryStore("words");
  const chunks = chunksOf("a", ...texts);
  const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)]));
  await store.write({ vectors, documents: [{ document: chunks[0]!.document, chunks }] });
  const hits = chunks.map((chunk, at): Hit => ({ chunk, uri: "a", score: 1 / (at + 1), placements: [] }));
  return { store, retrieved: { question: "q", hits, trace: [] } satisfies Retrieved };
}

test("hits that repeat make room for new ones, and the trace says which were dropped", async () => {
  const { store, retrieved } = await found("red apple pie", "red apple pie again", "green pear");
  const run = async (options: Parameters<typeof diversify>[1]) => {
    const [out] = await collect(Pipeline.from<Retrieved>().pipe(diversify(store, options)).stream([retrieved]));
    return out!;
  };
  const { hits, trace } = await run({ lambda: 0.5, count: 2 });
  expect(hits.map(({ chunk }) => chunk.text)).toEqual(["red apple pie", "green pear"]);
  expect(hits[1]!.placements).toMatchObject([{ by: "diversify", rank: 2 }]);
  expect(trace.at(-1)).toMatchObject({
    step: "diversify",
    dropped: [{ chunkId: retrieved.hits[1]!.chunk.id, reason: "adds less than the 2 hits that were kept" }],
  });
  expect((await run({ lambda: 1 })).hits.map(({ chunk }) => chunk.id)).toEqual(
    retrieved.hits.map(({ chunk }) => chunk.id),
  );
});

test("hits of equal scores are all fully relevant, so their first value is lambda, and only difference orders them", async () => {
  const { store, retrieved } = await found("red apple pie", "red apple pie again", "green pear");
  const equal = { ...retrieved, hits: retrieved.hits.map((hit) => ({ ...hit, score: 0.3 })) };
  const [out] = await collect(Pipeline.from<Retrieved>().pipe(diversify(store)).stream([equal]));
  expect(out!.hits.map(({ chunk }) => chunk.text)).toEqual(["red apple pie", "green pear", "red apple pie again"]);
  expect(out!.hits[0]!.placements.at(-1)).toEqual({ by: "diversify", rank: 1, score: 0.7 });
});

test("relevance is scaled to 0 for the lowest score and 1 for the highest, whatever the scores", async () => {
  const { store, retrieved } = await found("red", "green", "blue");
  const scored = { ...retrieved, hits: retrieved.hits.map((hit, at) => ({ ...hit, score: [8, 2, -4][at]! })) };
  const [out] = await collect(
    Pipeline.from<Retrieved>()
      .pipe(diversify(store, { lambda: 1 }))
      .stream([scored]),
  );
  expect(out!.hits.map(({ placements }) => placements.at(-1)!.score)).toEqual([1, 0.5, 0]);
});

test("a lambda outside 0 to 1 is refused", async () => {
  const { store } = await found("x");
  expect(() => diversify(store, { lambda: 1.5 })).toThrow(OptionsError);
});
