import { describe, expect, test } from "vitest";
import { TransportError, type TransportErrorCode } from "../../../src/core/errors.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import type { Reranker, Reranking } from "../../../src/core/ports.js";
import { rerank, type RerankOptions } from "../../../src/stages/retrieval/rerank.js";
import { collect } from "../../../src/core/stream.js";
import type { Hit, Retrieved } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { words } from "../../support/memory-store.js";

/** Counts the question's words in each document. */
function countingReranker(before: () => void = () => {}): Reranker & { readonly sent: (readonly string[])[] } {
  const sent: (readonly string[])[] = [];
  return {
    model: "counting",
    sent,
    rerank: async (query, documents) => {
      sent.push(documents);
      before();
      const wanted = new Set(words(query));
      const results = documents
        .map((document, index) => ({ index, score: words(document).filter((word) => wanted.has(word)).length }))
        .toSorted((a, b) => b.score - a.score || a.index - b.index);
      return { results, tokens: 0 };
    },
  };
}

function retrieved(question: string, ...texts: readonly string[]): Retrieved {
  const hits = chunksOf("doc", ...texts).map((chunk, index): Hit => {
    const score = 1 / (index + 1);
    return { chunk, uri: "doc", score, placements: [{ by: "fused", rank: index + 1, score }] };
  });
  return { question, hits, trace: [{ step: "search hybrid", kept: hits.map(({ chunk }) => chunk.id), dropped: [] }] };
}

async function run(reranker: Reranker, input: Retrieved, options: RerankOptions = {}, deadlineMs?: number) {
  const events: RunEvent[] = [];
  const context = createRunContext({
    report: (event) => events.push(event),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  const source = (async function* () {
    yield input;
  })();
  const [out] = await collect(rerank(reranker, options).run(source, context));
  return { texts: out!.hits.map(({ chunk }) => chunk.text), step: out!.trace.at(-1)!, events, out: out! };
}

const question = () => retrieved("red apple", "sky", "red sky", "red apple pie", "apple");

describe("rerank", () => {
  test("the request counts the tokens that were read, and none written", async () => {
    const reranker: Reranker = { model: "m", rerank: async () => ({ results: [{ index: 0, score: 1 }], tokens: 7 }) };
    const { out } = await run(reranker, question());
    expect(out.requests).toMatchObject([{ step: "rerank", inputTokens: 7, outputTokens: 0 }]);
  });

  test("the search's score counts beside the reranker's, each as a share of its best", async () => {
    // The search's shares are 1, 1/2, 1/3 and 1/4, the reranker's 0, 1/2, 1 and 1/2.
    const { out, texts } = await run(countingReranker(), question(), { searchWeight: 0.5 });
    expect(texts).toEqual(["red apple pie", "red sky", "apple", "sky"]);
    expect(out.hits.map(({ score }) => score)).toEqual(
      [7 / 9, 1 / 2, 5 / 12, 1 / 3].map((score) => expect.closeTo(score, 9)),
    );
    expect(out.hits[0]!.placements.at(-1)).toEqual({ by: "rerank", rank: 1, score: 2 });
  });

  test("where the reranker or the search has no positive score, the other decides alone", async () => {
    const nothing = retrieved("zebra", "sky", "red sky");
    expect((await run(countingReranker(), nothing, { searchWeight: 0.5 })).texts).toEqual(["sky", "red sky"]);
    const unscored = { ...question(), hits: question().hits.map((hit) => ({ ...hit, score: 0 })) };
    expect((await run(countingReranker(), unscored, { searchWeight: 0.5 })).texts[0]).toBe("red apple pie");
  });

  test("hits beyond depth keep the order of the search behind the others, whatever the reranker says of them", async () => {
    const { out, texts } = await run(countingReranker(), question(), { depth: 2 });
    expect(texts).toEqual(["red sky", "sky", "red apple pie", "apple"]);
    expect(out.hits[2]!.placements.at(-1)).toEqual({ by: "rerank", rank: 1, score: 2 });
    // The search's shares are 1, 1/2, 1/3 and 1/4, the reranker's 0 and 1, and nothing of it beyond.
    const blended = await run(countingReranker(), question(), { depth: 2, searchWeight: 1 });
    expect(blended.texts).toEqual(["red sky", "sky", "red apple pie", "apple"]);
    expect(blended.out.hits.map(({ score }) => score)).toEqual(
      [3 / 4, 1 / 2, 1 / 6, 1 / 8].map((score) => expect.closeTo(score, 9)),
    );
  });

  test("orders by the reranker's score, keeps the best, and adds its place", async () => {
    const { texts, out, step } = await run(countingReranker(), question(), { topN: 2 });
    expect(texts).toEqual(["red apple pie", "red sky"]);
    expect(out.hits[0]).toMatchObject({
      score: 2,
      placements: [
        { by: "fused", rank: 3 },
        { by: "rerank", rank: 1, score: 2 },
      ],
    });
    expect(out.trace.map((each) => each.step)).toEqual(["search hybrid", "rerank"]);
    expect(step.dropped.map(({ reason }) => reason)).toEqual(["ranked 3, and topN is 2", "ranked 4, and topN is 2"]);
  });

  test("every chunk is kept, or dropped with a reason", async () => {
    const input = question();
    const { step } = await run(countingReranker(), input, { topN: 1, candidates: 3 });
    expect([...step.kept, ...step.dropped.map(({ chunkId }) => chunkId)].toSorted()).toEqual(
      input.hits.map(({ chunk }) => chunk.id).toSorted(),
    );
    expect(step.dropped.at(-1)!.reason).toBe("not sent: candidates is 3");
  });

  test("texts are sent with their context, as they were embedded", async () => {
    const reranker = countingReranker();
    const input = retrieved("q", "body");
    const hits = input.hits.map((hit) => ({ ...hit, chunk: { ...hit.chunk, context: "Guide > Setup" } }));
    await run(reranker, { ...input, hits });
    expect(reranker.sent).toEqual([["Guide > Setup\n\nbody"]]);
  });

  test("without hits nothing is sent", async () => {
    const reranker = countingReranker();
    expect((await run(reranker, retrieved("q"))).texts).toEqual([]);
    expect(reranker.sent).toEqual([]);
  });

  test.each<TransportErrorCode>(["upstream", "rate-limited", "network", "timeout", "reply"])(
    "when the service fails (%s) the order is kept, and the trace and a warning say so",
    async (code) => {
      const reranker = countingReranker(() => {
        throw new TransportError(code, "the service is away");
      });
      const { texts, step, events } = await run(reranker, question(), { topN: 2 });
      expect(texts).toEqual(["sky", "red sky"]);
      expect(step.note).toBe(`counting failed (${code}: the service is away): the order of the search was kept`);
      expect(events).toEqual([{ type: "warning", message: `rerank: ${step.note}` }]);
    },
  );

  test("with onFailure throw, any failure ends the run", async () => {
    const reranker = countingReranker(() => {
      throw new TransportError("upstream", "away", { retryable: true });
    });
    await expect(run(reranker, question(), { onFailure: "throw" })).rejects.toMatchObject({ code: "upstream" });
  });

  test.each([
    ["unauthorized", new TransportError("unauthorized", "the key is wrong")],
    ["refused", new TransportError("refused", "no such model")],
    ["TypeError", new TypeError("x is undefined")],
    ["Error", "a text that was thrown"],
  ])("whatever a reranker throws (%s), the order is kept and `warnings` say why", async (name, thrown) => {
    const reranker = countingReranker(() => {
      throw thrown;
    });
    const { texts, step, out } = await run(reranker, question(), { topN: 2 });
    expect(texts).toEqual(["sky", "red sky"]);
    const message = thrown instanceof Error ? thrown.message : thrown;
    expect(step.note).toBe(`counting failed (${name}: ${message}): the order of the search was kept`);
    expect(out.warnings).toEqual([`rerank: ${step.note}`]);
    await expect(run(reranker, question(), { onFailure: "throw" })).rejects.toBe(thrown);
  });

  test("when the deadline is near, nothing is sent and the order is kept", async () => {
    const reranker = countingReranker();
    const { texts, step } = await run(reranker, question(), { topN: 1 }, 1000);
    expect(reranker.sent).toEqual([]);
    expect(texts).toEqual(["sky"]);
    expect(step.note).toBe("no time left: the order of the search was kept");
  });

  test("a reranker that never answers is abandoned before it uses up the reserved time", async () => {
    const silent: Reranker = { model: "silent", rerank: () => new Promise(() => {}) };
    const startedAt = performance.now();
    const { texts, step } = await run(silent, question(), { topN: 1, reserveMs: 60_000 }, 60_030);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(texts).toEqual(["sky"]);
    expect(step.note).toMatch(/^silent took more than \d+ ms: the order of the search was kept$/);
  });

  const good = { index: 0, score: 1 };
  test.each<[string, unknown]>([
    ["results[0].index 9, but 4 documents were sent, 0 to 3", { results: [{ index: 9, score: 1 }] }],
    ["results[1].index -1, but 4 documents were sent, 0 to 3", { results: [good, { index: -1, score: 1 }] }],
    ['results[0].index "0", but 4 documents were sent, 0 to 3', { results: [{ index: "0", score: 1 }] }],
    ["results[1].index 0 for a second time", { results: [good, good] }],
    ["results[0].score NaN, which is no finite number", { results: [{ index: 1, score: Number.NaN }] }],
    ["results[1].score Infinity, which is no finite number", { results: [good, { index: 1, score: Infinity }] }],
    ['results[0].score "0.5", which is no finite number', { results: [{ index: 1, score: "0.5" }] }],
    ["results[0] that is 3, not { index, score }", { results: [3] }],
    ["results that are no list (got undefined)", {}],
    ["a list of 1, not { results }", [good]],
    ["undefined, not { results }", undefined],
    ["tokens NaN, which is no number of 0 or more", { results: [good], tokens: Number.NaN }],
  ])("a reply with %s is named as that, and not used", async (problem, reply) => {
    const reranker = { model: "broken", rerank: async () => reply } as unknown as Reranker;
    const { step, texts } = await run(reranker, question());
    const note = `broken failed (reply: The reranker broken returned ${problem}): the order of the search was kept`;
    expect(step.note).toBe(note);
    expect(texts).toEqual(["sky", "red sky", "red apple pie", "apple"]);
  });

  test("more to keep than are sent is refused with both numbers, and the default keeps what there is", async () => {
    expect(() => rerank(countingReranker(), { topN: 9, candidates: 4 })).toThrow(
      "rerank: topN is 9, but only 4 candidates are sent. Set topN to 4 or less, or candidates to 9 or more",
    );
    expect((await run(countingReranker(), question(), { candidates: 2 })).texts).toHaveLength(2);
  });

  test("results in another order are sorted by falling score, and equal scores keep the order of the search", async () => {
    const results: Reranking["results"] = [
      { index: 3, score: 0.5 },
      { index: 1, score: 0.5 },
      { index: 2, score: 0.9 },
      { index: 0, score: 0.5 },
    ];
    const { texts } = await run({ model: "loose", rerank: async () => ({ results }) }, question());
    expect(texts).toEqual(["red apple pie", "sky", "red sky", "apple"]);
  });

  test("an abort is thrown as the caller's own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const reranker = countingReranker(() => {
      controller.abort(reason);
      throw new TransportError("network", "cut");
    });
    const source = (async function* () {
      yield question();
    })();
    const context = createRunContext({ signal: controller.signal });
    await expect(collect(rerank(reranker).run(source, context))).rejects.toBe(reason);
  });
});
