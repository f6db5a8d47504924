import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AnswerError, OptionsError } from "../../../src/core/errors.js";
import { Pipeline } from "../../../src/core/pipeline.js";
import type { Retriever } from "../../../src/core/ports.js";
import { embedQuestion } from "../../../src/stages/questions/embed-question.js";
import { type Fusion, search, type SearchOptions } from "../../../src/stages/retrieval/search.js";
import { collect } from "../../../src/core/stream.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import { why } from "../../../src/stages/answering/trace.js";
import type { Question } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";

async function storeOf(...documents: readonly (readonly [string, ...string[]])[]) {
  const store = memoryStore("words");
  for (const [uri, ...texts] of documents) {
    const chunks = chunksOf(uri, ...texts);
    const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)]));
    await store.write({ vectors, documents: [{ document: chunks[0]!.document, chunks }] });
  }
  return store;
}

const fruit = () =>
  storeOf(["a", "apples are red", "pears are green"], ["b", "the sky is blue", "apples are red"], ["c", "red apples"]);

describe("search", () => {
  test("finds chunks for a question, with every retriever's placement", async () => {
    const ask = Pipeline.from<Question>()
      .pipe(embedQuestion(wordEmbedder()))
      .pipe(search(await fruit(), { count: 2 }));
    const [retrieved] = await collect(ask.stream([{ question: "red apples", history: [] }]));
    expect(retrieved).toMatchObject({ question: "red apples", history: [] });
    expect(retrieved).not.toHaveProperty("vector");
    expect(retrieved!.hits.map(({ chunk }) => chunk.text)).toEqual(["red apples", "apples are red"]);
    expect(retrieved!.hits[0]!.placements.map(({ by }) => by)).toEqual(["dense", "lexical", "fused", "closeness"]);
  });

  test.each([
    [undefined, 2 / 11],
    [0, 2],
    [3, 2 / 4],
  ])("with k at %s, the first of both sides scores %d", async (k, score) => {
    const ask = Pipeline.from<Question>()
      .pipe(embedQuestion(wordEmbedder()))
      .pipe(search(await storeOf(["c", "red apples"]), { fusion: { method: "rrf", ...(k !== undefined && { k }) } }));
    const [retrieved] = await collect(ask.stream([{ question: "red apples" }]));
    expect(retrieved!.hits.map((hit) => hit.score)).toEqual([score]);
  });

  test("scores are fused, ranks where k is given, and k with scores is refused", async () => {
    const store = await fruit();
    const scores = async (fusion: Fusion) => {
      const ask = Pipeline.from<Question>().pipe(embedQuestion(wordEmbedder())).pipe(search(store, { fusion }));
      return (await collect(ask.stream([{ question: "red apples" }])))[0]!.hits.map(({ score }) => score);
    };
    expect(await scores({})).toEqual(await scores({ method: "score", weights: { dense: 0.7, lexical: 1 } }));
    expect(await scores({ k: 10 })).toEqual(await scores({ method: "rrf", weights: { dense: 1, lexical: 1 } }));
    expect(await scores({})).not.toEqual(await scores({ k: 10 }));
    expect(() => search(store, { fusion: { method: "score", k: 10 } })).toThrow(/k is about ranks/);
  });

  test.each<SearchOptions>([
    { fusion: { method: "rrf" } },
    { fusion: { k: 10 } },
    { mode: "dense" },
    { mode: "lexical" },
  ])("a weight of closeness is refused where a search does not rank by it, with %j", async (options) => {
    const store = await fruit();
    const searching = (closeness: number) => () =>
      search(store, { ...options, fusion: { ...options.fusion, weights: { dense: 1, lexical: 1, closeness } } });
    expect(searching(2)).toThrow(OptionsError);
    expect(searching(2)).toThrow(/weights\.closeness is 2, but only a hybrid search that fuses scores/);
    expect(searching(0)).not.toThrow();
  });

  test.each(["river", "garden", "window", "harbour"])(
    "of chunks with the same words, that with the question's words together is first (beside %s)",
    async (filler) => {
      const scattered = `circuit ${filler} walls streets roofs doors gates breaker`;
      const together = `circuit breaker ${filler} walls streets roofs doors gates`;
      const ranked = async (options: SearchOptions) => {
        const store = await storeOf(["a", scattered, together]);
        const ask = Pipeline.from<Question>().pipe(embedQuestion(wordEmbedder())).pipe(search(store, options));
        const { hits } = (await collect(ask.stream([{ question: "circuit breaker" }])))[0]!;
        return hits.map(({ chunk, score, placements }) => ({ text: chunk.text, score, by: placements.at(-1)!.by }));
      };
      const [first, second] = await ranked({});
      expect([first!.text, second!.text]).toEqual([together, scattered]);
      expect(first).toMatchObject({ by: "closeness" });
      // 2.25 times the weights of both sides.
      expect(first!.score - second!.score).toBeCloseTo(2.25 * 1.7);
      const [near, far] = await ranked({ fusion: { weights: { dense: 0.1, lexical: 1 } } });
      expect(near!.score - far!.score).toBeCloseTo(2.25 * 1.1);
      expect((await ranked({ count: 1 }))[0]!.text).toBe(together);
      const [one, other] = await ranked({ fusion: { weights: { dense: 0.7, lexical: 1, closeness: 0 } } });
      expect(one!.score).toBeCloseTo(other!.score);
    },
  );

  test("the trace names each chunk that was found but not kept, with the reason", async () => {
    const store = await fruit();
    const [retrieved] = await collect(
      Pipeline.from<Question>()
        .pipe(search(store, { mode: "lexical", count: 2 }))
        .stream([{ question: "apples are red" }]),
    );
    const [step] = retrieved!.trace;
    expect(step).toMatchObject({ step: "search lexical", kept: retrieved!.hits.map(({ chunk }) => chunk.id) });
    expect(step!.milliseconds).toBeGreaterThanOrEqual(0);
    const reasons = step!.dropped.map(({ reason }) => reason);
    expect(reasons).toEqual([`same text as ${retrieved!.hits[0]!.chunk.id}`, "ranked 3, and count is 2"]);
    const found = await store.lexical.retrieve({ text: "apples are red" }, { count: 4 });
    expect([...step!.kept, ...step!.dropped.map(({ chunkId }) => chunkId)].toSorted()).toEqual(
      found.map(({ chunkId }) => chunkId).toSorted(),
    );
  });

  test("the trace keeps each side's ranking, whichever answers first, and can be asked why", async () => {
    const kb = await fruit();
    const dense: Retriever = {
      name: "dense",
      retrieve: async (query, call) => {
        await setTimeout(5);
        return kb.dense.retrieve(query, call);
      },
    };
    const ask = Pipeline.from<Question>()
      .pipe(embedQuestion(wordEmbedder()))
      .pipe(search({ ...kb, dense }, { count: 1 }));
    const [retrieved] = await collect(ask.stream([{ question: "red apples" }]));
    const { lists = [] } = retrieved!.trace[0]!;
    expect(lists.map(({ by, asked }) => [by, asked])).toEqual([
      ["dense", 100],
      ["lexical", 100],
    ]);
    for (const [index, retriever] of [kb.dense, kb.lexical].entries()) {
      const found = await retriever.retrieve({ text: "red apples", vector: wordVector("red apples") }, { count: 100 });
      expect(lists[index]!.chunkIds).toEqual(found.map(({ chunkId }) => chunkId));
      expect(lists[index]!.scores).toEqual(found.map(({ score }) => score));
    }
    const sky = (await kb.dense.retrieve({ text: "", vector: wordVector("sky") }, { count: 1 }))[0]!.chunkId;
    expect(why(retrieved!.trace, sky).steps[0]!.retrievers).toContainEqual({
      by: "lexical",
      reason: "no word in common with the query, or left out by a condition",
    });
  });

  test("chunks with the same text take one place, and the next best moves up", async () => {
    const store = await storeOf(["a", "same"], ["b", "same"], ["c", "same"], ["d", "same too"]);
    const [retrieved] = await collect(
      Pipeline.from<Question>()
        .pipe(search(store, { mode: "lexical", count: 2 }))
        .stream([{ question: "same" }]),
    );
    expect(retrieved!.hits.map(({ chunk }) => chunk.text)).toEqual(["same", "same too"]);
  });

  test("an empty store gives no hits", async () => {
    const ask = Pipeline.from<Question>().pipe(search(memoryStore("words"), { mode: "lexical" }));
    expect(await collect(ask.stream([{ question: "anything" }]))).toMatchObject([{ hits: [] }]);
  });

  test("a dense search asks only the dense side", async () => {
    const ask = Pipeline.from<Question>()
      .pipe(embedQuestion(wordEmbedder()))
      .pipe(search(await fruit(), { mode: "dense", count: 1 }));
    const [retrieved] = await collect(ask.stream([{ question: "green pears are" }]));
    expect(retrieved!.hits[0]!.placements.map(({ by }) => by)).toEqual(["dense"]);
  });

  test("a store of another space is refused by the types and when it is piped", async () => {
    const embedded = Pipeline.from<Question>().pipe(embedQuestion(wordEmbedder()));
    // @ts-expect-error the question's vector is of another space than the store's
    expect(() => embedded.pipe(search(memoryStore("elsewhere")))).toThrow(OptionsError);
  });

  test("a question without a vector cannot be searched by vector", async () => {
    const kb = await fruit();
    const withoutVector = Pipeline.from<Question>();
    // @ts-expect-error embedQuestion() is missing
    withoutVector.pipe(search(kb));
    expect(withoutVector.pipe(search(kb, { mode: "lexical" })).name).toBe("search");
  });
});

describe("embedQuestion", () => {
  test("a question that is too long is refused with both numbers, before anything is sent", async () => {
    const embedder = wordEmbedder({ maxInputTokens: 3 });
    const ask = Pipeline.from<Question>().pipe(embedQuestion(embedder));
    const failure = collect(ask.stream([{ question: "one two three four" }]));
    await expect(failure).rejects.toThrow(AnswerError);
    await expect(failure).rejects.toMatchObject({
      code: "question-too-long",
      message: "The question has 4 tokens, and words takes 3: shorten it",
    });
    expect(embedder.calls).toEqual([]);
  });

  test("the question is embedded as a question, within the run's time", async () => {
    const seen: unknown[] = [];
    const embedder = wordEmbedder({
      before: (_texts, { purpose, deadlineMs }) => void seen.push([purpose, deadlineMs! <= 5000]),
    });
    const ask = Pipeline.from<Question>().pipe(embedQuestion(embedder));
    const [embedded] = await collect(ask.stream([{ question: "why" }], { deadlineMs: 5000 }));
    expect(seen).toEqual([["query", true]]);
    expect(embedded).toMatchObject({ question: "why", space: "words", vector: wordVector("why") });
  });
});
