import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.js";
import { bootstrapInterval, byName } from "../../src/evaluate/statistics.js";
import { compare, holm } from "../../src/evaluate/compare.js";
import { documentsOf, evaluate, metricNames, rankDocuments, type Scores } from "../../src/evaluate/evaluate.js";

const query = (id: string, ...relevant: string[]) => ({
  id,
  text: id,
  judgements: new Map(relevant.map((document) => [document, 1])),
});

describe("evaluate", () => {
  test.each<[string, readonly unknown[], string]>([
    ["a knowledge base first", [{ ask: () => undefined }, [query("first", "a")]], "queries must be a list of"],
    ["nothing", [], "queries must be a list of"],
    ["a query that is null", [[query("first", "a"), null], () => ["a"]], "got null among them"],
    ["judgements that are an object", [[{ ...query("first"), judgements: { a: 1 } }], () => ["a"]], "among them"],
    ["no way to rank", [[query("first", "a")]], "rank must be a function of a query (got undefined)"],
    ["a ranking of hits", [[query("first", "a")], () => [{ uri: "a" }]], "rank must return a list of documents' names"],
    ["no ranking", [[query("first", "a")], () => undefined], "(got undefined)"],
  ])("refuses %s, and says what it takes", async (_, given, message) => {
    const evaluating = (evaluate as (...given: readonly unknown[]) => Promise<unknown>)(...given);
    await expect(evaluating).rejects.toThrow(
      expect.objectContaining({ code: "options", message: expect.stringContaining(message) as string }),
    );
  });

  test("means, intervals and scores cover the queries asked, in their order", async () => {
    const done: number[] = [];
    const rankings: Record<string, string[]> = { first: ["a", "b"], second: ["x", "b"], third: ["x"] };
    const evaluation = await evaluate(
      [query("first", "a"), query("second", "b"), query("third", "c")],
      ({ id }) => Promise.resolve(rankings[id]!),
      { onProgress: (count) => done.push(count) },
    );
    expect(evaluation.queries).toBe(3);
    expect(evaluation.metrics["mrr@10"]).toBeCloseTo((1 + 1 / 2 + 0) / 3, 12);
    expect(evaluation.metrics["ndcg@10"]).toBeCloseTo((1 + 1 / Math.log2(3) + 0) / 3, 12);
    expect(evaluation.metrics["recall@100"]).toBeCloseTo(2 / 3, 12);
    expect(evaluation.intervals["mrr@10"]).toEqual([0, 1]);
    expect([...evaluation.scores]).toMatchObject([
      ["first", { map: 1 }],
      ["second", { map: 1 / 2 }],
      ["third", { map: 0 }],
    ]);
    expect(done).toEqual([1, 2, 3]);
    expect(evaluation.latencyMs.p95).toBeGreaterThanOrEqual(evaluation.latencyMs.p50);
  });

  test("stops at an abort with the caller's own reason", async () => {
    const stopping = new AbortController();
    const reason = new Error("enough");
    const asked: string[] = [];
    const running = evaluate(
      [query("first", "a"), query("second", "b")],
      ({ id }) => {
        asked.push(id);
        stopping.abort(reason);
        return Promise.resolve([]);
      },
      { signal: stopping.signal },
    );
    await expect(running).rejects.toBe(reason);
    expect(asked).toEqual(["first"]);
  });
});

describe("rankDocuments", () => {
  const chunks = (documents: number, each: number) =>
    Array.from({ length: documents * each }, (_, index) => ({ uri: `d${Math.floor(index / each)}` }));

  test("a document ranks once, where its best chunk does", () => {
    expect(documentsOf([{ uri: "b" }, { uri: "a" }, { uri: "b" }, { uri: "c" }, { uri: "a" }])).toEqual([
      "b",
      "a",
      "c",
    ]);
  });

  test.each([
    ["two searches when four chunks of each document come first", 200, 4, 100, [200, 400], 100],
    ["one search when there is no more to find", 30, 3, 100, [200], 30],
    ["as far as 1,000 chunks", 300, 20, 100, [200, 400, 800, 1000], 50],
  ])("%s", async (_, documents, each, wanted, limits, found) => {
    const all = chunks(documents, each);
    const asked: number[] = [];
    const ranking = await rankDocuments((limit) => {
      asked.push(limit);
      return Promise.resolve(all.slice(0, limit));
    }, wanted);
    expect(asked).toEqual(limits);
    expect(ranking).toEqual(Array.from({ length: found }, (_unused, index) => `d${index}`));
  });
});

describe("compare", () => {
  const scored = (ndcg: (index: number) => number, queries = 40): Map<string, Scores> =>
    new Map(
      Array.from({ length: queries }, (_, index) => [
        `q${index}`,
        byName(metricNames, (metric) => (metric === "ndcg@10" ? ndcg(index) : 0.5)),
      ]),
    );
  const before = scored((index) => (index % 10) / 10);

  test("a loss on every query is worse, the mirror image is better", () => {
    const after = scored((index) => (index % 10) / 10 - 0.02);
    const worse = compare(after, before);
    expect(worse.worse).toBe(true);
    expect(worse.metrics["ndcg@10"]).toMatchObject({ verdict: "worse", difference: expect.closeTo(-0.02, 10) });
    expect(worse.metrics.map).toMatchObject({ verdict: "same", difference: 0, p: 1 });
    const better = compare(before, after);
    expect(better.worse).toBe(false);
    expect(better.metrics["ndcg@10"].verdict).toBe("better");
  });

  test("the difference has an interval, which holds it and is on one side of zero where it is clear", () => {
    const { metrics, threshold } = compare(
      scored((index) => (index % 10) / 10 - 0.02 - (index % 4) / 100),
      before,
    );
    expect(threshold).toBe(0.05);
    const { difference, interval } = metrics["ndcg@10"];
    expect(interval).toEqual(
      bootstrapInterval([...before.keys()].map((_, index) => -0.02 - (index % 4) / 100)).map((end) =>
        expect.closeTo(end, 9),
      ),
    );
    expect(interval[0]).toBeLessThan(difference);
    expect(interval[1]).toBeGreaterThan(difference);
    expect(interval[1]).toBeLessThan(0);
    expect(metrics.map.interval).toEqual([0, 0]);
  });

  test("without a clear verdict it says how many queries would tell, and so many do", () => {
    const noisy = (index: number) => (index % 10) / 10 + (index % 2 === 0 ? 0.1 : -0.07);
    const few = compare(
      scored(noisy, 20),
      scored((index) => (index % 10) / 10, 20),
    ).metrics["ndcg@10"];
    expect(few).toMatchObject({ verdict: "same", difference: expect.closeTo(0.015, 10) });
    // (2.498 + 0.842)² standard deviations of 0.0872, over a difference of 0.015.
    expect(few.queriesNeeded).toBe(377);
    const many = compare(
      scored(noisy, 377),
      scored((index) => (index % 10) / 10, 377),
    ).metrics["ndcg@10"];
    expect(many).toMatchObject({ verdict: "better", queriesNeeded: undefined });
    expect(many.detectable).toBeCloseTo(0.015, 3);
  });

  test("a probability is corrected by Holm's steps: by the number of all, then of those that are left", () => {
    const corrected = [0.03, 0.04, 0.01, 0.5].map((_, index, all) => holm(all)[index]);
    expect(corrected).toEqual([0.09, 0.09, 0.04, 0.5].map((p) => expect.closeTo(p, 12)));
    expect(holm([0.6, 0.7])).toEqual([1, 1]);
  });

  test("a lower mean that chance explains is not called worse", () => {
    const after = scored((index) => (index % 10) / 10 + (index % 2 === 0 ? 0.3 : -0.31));
    expect(compare(after, before)).toMatchObject({ worse: false, metrics: { "ndcg@10": { verdict: "same" } } });
  });

  test("only common queries count", () => {
    const fewer = scored((index) => (index % 10) / 10, 10);
    expect(compare(fewer, before)).toMatchObject({
      queries: 10,
      metrics: { "ndcg@10": { baseline: 0.45, difference: 0 } },
    });
    expect(() => compare(new Map([["other", before.get("q1")!]]), before)).toThrow(OptionsError);
  });
});

describe("names of documents", () => {
  const judged = (id: string) => ({ id, text: "?", judgements: new Map([[id, 1]]) });

  test.each([
    ["collection:docs/keys", "keys"],
    ["file:///docs/keys.md", "keys"],
    ["keys", "file:///docs/keys.md"],
    ["https://example.org/1", "d1"],
    ["docs/keys.md", "keys.md"],
  ])("a ranking of %s, where %s is judged, is refused with both", async (found, id) => {
    await expect(evaluate([judged(id)], async () => [found])).rejects.toThrow(
      `evaluate: no document that was found is judged: rankings name documents as ${JSON.stringify(found)}, judgements as ${JSON.stringify(id)}.`,
    );
  });

  test("a ranking that finds nothing of what is judged, or nothing at all, scores 0", async () => {
    for (const found of [["d2", "d3"], []]) {
      expect((await evaluate([judged("d1")], async () => found)).metrics["ndcg@10"]).toBe(0);
    }
    const some = await evaluate([judged("d1"), judged("d2")], async ({ id }) =>
      id === "d1" ? ["d1"] : ["file:///d2"],
    );
    expect(some.metrics["ndcg@10"]).toBe(0.5);
  });
});
