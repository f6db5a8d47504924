// In test:all alone: it ingests and searches in stores of several sizes, for 30 s.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTransport, openKnowledgeBase } from "../../src/index.js";
import { seededRandom } from "../../src/core/random.js";
import type { PassageQuestion } from "../../src/evaluate/evaluate-passages.js";
import { passageGain } from "../../src/tuning/passage-gain.js";
import { successiveHalving } from "../../src/tuning/successive-halving.js";
import { tune } from "../../src/tuning/tune.js";
import { type RecordedRequest, scriptedUpstream, type ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { wordEmbedder } from "../support/word-embedder.js";

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => index + from);

test("of settings that are alike, a better one is claimed in at most 1 of 20 of 200 shuffles", async () => {
  let claims = 0;
  for (const seed of numbers(200, 1)) {
    const random = seededRandom(seed);
    const gains = numbers(24).map(() => numbers(240).map(() => (random() < 0.7 ? 1 / Math.log2(2 + 6 * random()) : 0)));
    const measure = async (settings: number, asked: readonly number[]) => asked.map((one) => gains[settings]![one]!);
    const { change } = await successiveHalving(24, numbers(120), numbers(120, 120), measure);
    if (change?.verdict === "better") claims++;
  }
  expect(claims).toBeLessThanOrEqual(10);
});

test("settings that are clearly better win, and the questions held back are asked by the last two alone", async () => {
  const random = seededRandom(4);
  const asked = new Map<number, number>();
  const measure = async (settings: number, questions: readonly number[]) => {
    asked.set(settings, Math.max(asked.get(settings) ?? 0, ...questions));
    return questions.map(() => (random() < (settings === 5 ? 0.8 : 0.4) ? 1 : 0));
  };
  const { winner, change, rounds } = await successiveHalving(16, numbers(100), numbers(100, 100), measure);
  expect(winner).toBe(5);
  expect(change).toMatchObject({ verdict: "better" });
  expect(rounds.map(({ questions, means }) => [questions, means.length])).toEqual([
    [32, 16],
    [64, expect.toSatisfy((count: number) => count === 8 || count === 9) as number],
    [100, expect.toSatisfy((count: number) => count >= 4 && count <= 6) as number],
  ]);
  expect(
    [...asked]
      .filter(([, last]) => last >= 100)
      .map(([settings]) => settings)
      .toSorted((a, b) => a - b),
  ).toEqual([0, 5]);
});

test("the defaults stay to the end, and give way only to what is clearly better than they are", async () => {
  for (const [ahead, winner] of [
    [0.02, 3],
    [0.3, 5],
  ] as const) {
    for (const seed of numbers(20, 1)) {
      const random = seededRandom(seed);
      const measure = async (settings: number, asked: readonly number[]) =>
        asked.map(() => (random() < (settings === 0 ? 0.1 : settings === 5 ? 0.5 + ahead : 0.5) ? 1 : 0));
      const choice = await successiveHalving(16, numbers(200), numbers(200, 200), measure, 3);
      expect([seed, choice.winner]).toEqual([seed, winner]);
      expect(choice.rounds.every(({ means }) => means.some(({ settings }) => settings === 3))).toBe(true);
    }
  }
});

test("a passage counts by the tokens above it, so that chunks of all sizes compare", () => {
  const hit = (text: string, tokens: number) => ({ chunk: { text, tokens } });
  const question = { passages: [[{ uri: "a", quote: "opens at dawn" }]] };
  expect(passageGain(question, [hit("It opens at dawn.", 40)])).toBe(1);
  expect(passageGain(question, [hit("No.", 384), hit("It opens at dawn.", 384)])).toBeCloseTo(1 / Math.log2(3), 12);
  expect(passageGain(question, [...numbers(8).map(() => hit("No.", 48)), hit("It opens at dawn.", 48)])).toBeCloseTo(
    1 / Math.log2(3),
    12,
  );
  expect(passageGain(question, [hit("It opens at dawn.", 1152)])).toBeCloseTo(1 / Math.log2(3), 12);
  expect(passageGain(question, [...numbers(6).map(() => hit("No.", 384)), hit("It opens at dawn.", 384)])).toBe(0);
  expect(passageGain(question, [hit("No.", 384)])).toBe(0);
});

const things = ["lamp", "bridge", "kettle", "anchor", "ladder", "violin", "hammer", "basket", "mirror", "pillow"];
const verbs = ["was bought in", "was mended in", "is kept in"];
const documents = things.map((thing, index) => ({
  uri: `${thing}.md`,
  text: verbs
    .map(
      (verb, turn) =>
        `The old ${thing} ${verb} room ${10 * index + turn}. ${"Nobody knows why it came here at all. ".repeat(6)}`,
    )
    .join("\n\n"),
}));
const questions: readonly PassageQuestion[] = things.flatMap((thing, index) =>
  verbs.map((verb, turn) => ({
    id: `${thing}-${turn}`,
    kind: "direct",
    text: `${thing} ${verb} which room`,
    passages: [[{ uri: `${thing}.md`, quote: `The old ${thing} ${verb} room ${10 * index + turn}` }]],
  })),
);

/** Vectors that tell nothing: all texts are alike. */
function blindEmbedder() {
  const usual = wordEmbedder();
  return {
    ...usual,
    embed: async (texts: readonly string[], call?: Parameters<typeof usual.embed>[1]) => {
      const { tokens } = await usual.embed(texts, call);
      return { vectors: texts.map(() => new Float32Array(64).fill(1)), tokens };
    },
  };
}

test("spoiled settings are found out, no text is embedded twice, and the stores of trials are dropped", async () => {
  const embedder = blindEmbedder();
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder,
    chunk: { maxTokens: 64, overlapTokens: 0 },
  });
  await kb.ingest(documents);
  const workPath = join(await temporaryFolder(), "work");
  const options = {
    questions,
    present: { mode: "dense", count: 3, topN: 3 },
    chunkSizes: [32, 128],
    workPath,
  } as const;
  const result = await tune(kb, options);
  await kb.close();
  expect(result).toMatchObject({
    clearlyBetter: true,
    stopped: undefined,
    best: { retrieval: expect.not.objectContaining({ mode: "dense" }) },
  });
  const texts = embedder.calls.flat();
  expect(texts.length).toBe(new Set(texts).size);
  expect(existsSync(workPath)).toBe(false);
});

test("good settings stay: nothing is called clearly better", async () => {
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder: blindEmbedder(),
    chunk: { maxTokens: 64, overlapTokens: 0 },
  });
  await kb.ingest(documents);
  const result = await tune(kb, { questions, present: { mode: "lexical" }, chunkSizes: [64] });
  await kb.close();
  expect(result).toMatchObject({ clearlyBetter: false, present: { retrieval: { mode: "lexical" } } });
});

test("a run that was stopped goes on: no text is embedded and no question measured again", async () => {
  const embedder = blindEmbedder();
  const path = await temporaryFolder();
  const workPath = join(await temporaryFolder(), "work");
  const kb = await openKnowledgeBase({ path, embedder, chunk: { maxTokens: 64, overlapTokens: 0 } });
  await kb.ingest(documents);
  const stop = new AbortController();
  const options = { questions, present: { mode: "dense" }, chunkSizes: [32], workPath } as const;
  let searches = 0;
  const onProgress = (progress: { searches: number }) => {
    searches = progress.searches;
    if (searches > 100) stop.abort(new Error("killed"));
  };
  await expect(tune(kb, { ...options, signal: stop.signal, onProgress })).rejects.toThrow("killed");
  let further = 0;
  const resumed = await tune(kb, { ...options, onProgress: (progress) => (further = progress.searches) });
  let whole = 0;
  const other = await tune(kb, {
    ...options,
    workPath: `${workPath}-2`,
    onProgress: (progress) => (whole = progress.searches),
  });
  await kb.close();
  expect(resumed.best).toEqual(other.best);
  expect(searches + further).toBeLessThanOrEqual(whole + 1);
  const texts = embedder.calls.flat().slice(0, -1);
  // The third run begins anew; before it nothing was embedded twice.
  expect(resumed.tokens).toBe(other.tokens);
  expect(texts.length).toBeGreaterThan(0);
});

test("chunks are tried without their context lines, too", async () => {
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder: blindEmbedder(),
    chunk: { maxTokens: 64, overlapTokens: 0 },
  });
  await kb.ingest(documents.map((document) => ({ ...document, title: things.join(" ") })));
  const result = await tune(kb, {
    questions,
    present: { mode: "lexical", rerank: false, topN: 3 },
    chunkSizes: [64],
    modes: ["lexical"],
    passages: [3],
  });
  await kb.close();
  const ways = new Set(result.tried.map(({ settings }) => settings.chunk.contextLine));
  expect(ways).toEqual(new Set([undefined, false]));
});

test("a time limit ends it before the next question, and nothing is claimed", async () => {
  const slow = wordEmbedder();
  const embed: typeof slow.embed = async (texts, call) => {
    await sleep(20);
    return slow.embed(texts, call);
  };
  const kb = await openKnowledgeBase({ path: await temporaryFolder(), embedder: { ...slow, embed } });
  await kb.ingest(documents);
  const begun = performance.now();
  const result = await tune(kb, { questions, present: { mode: "dense" }, maxMinutes: 1 / 120 });
  await kb.close();
  expect(result).toMatchObject({ clearlyBetter: false, stopped: expect.stringMatching(/^maxMinutes is/) as string });
  expect(performance.now() - begun).toBeLessThan(10_000);
});

/** A service that scores passages by the words that they share with the question, and counts what is scored. */
function rerankService() {
  const pairs: string[] = [];
  let sent = 0;
  const reply = ({ path, body }: RecordedRequest): ScriptedReply => {
    if (!path.endsWith("/rerank")) return { status: 404 };
    const { query, documents: texts } = body as { readonly query: string; readonly documents: readonly string[] };
    const words = new Set(query.split(" "));
    const results = texts.map((text, index) => {
      pairs.push(`${query}\n${text}`);
      return { index, relevance_score: text.split(/\W+/).filter((word) => words.has(word)).length / 100 };
    });
    sent += 10 * texts.length;
    return { json: { id: "r", results, tokens: { input_tokens: 10 * texts.length, output_tokens: 0 } } };
  };
  return { pairs, tokens: () => sent, reply };
}

test("rerankers are tried by name, no passage is scored twice for a question, and their tokens count", async () => {
  const service = rerankService();
  const upstream = await scriptedUpstream(service.reply);
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "k" });
  const embedder = blindEmbedder();
  const open = async (path: string) => openKnowledgeBase({ path, transport, embedder, chunk: { maxTokens: 64 } });
  const kb = await open(await temporaryFolder());
  await kb.ingest(documents);
  const options = {
    questions,
    present: { mode: "dense", topN: 3 },
    chunkSizes: [64],
    rerankModels: ["vendor/one"],
    candidates: [5, 10],
    contextLines: [true],
  } as const;
  const result = await tune(kb, options);
  expect(result.tried.some(({ settings }) => settings.models?.rerank === "vendor/one")).toBe(true);
  expect(service.pairs.length).toBeGreaterThan(0);
  expect(new Set(service.pairs).size).toBe(service.pairs.length);
  expect(result.tokens).toBeGreaterThanOrEqual(service.tokens());
  const before = service.tokens();
  const poor = await tune(kb, { ...options, maxTokens: 900 });
  expect(poor).toMatchObject({ clearlyBetter: false, stopped: expect.stringContaining("maxTokens is 900") as string });
  expect(poor.tokens).toBeLessThanOrEqual(900);
  expect(service.tokens() - before).toBeLessThanOrEqual(900);
  await kb.close();
  await transport.close();
});

test("a reranker that fails ends the run with its error: a search without it would be measured in its place", async () => {
  const upstream = await scriptedUpstream(() => ({ status: 400, json: { code: 20012, message: "no such model" } }));
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "k", maxRetries: 0 });
  const path = await temporaryFolder();
  const kb = await openKnowledgeBase({ path, transport, embedder: blindEmbedder() });
  await kb.ingest(documents);
  const options = { questions, chunkSizes: [384], rerankModels: ["vendor/none"], withoutRerank: false } as const;
  await expect(tune(kb, options)).rejects.toThrow(/no such model/);
  await kb.close();
  await transport.close();
});

test("a budget of tokens is never passed, and what was not compared is not claimed", async () => {
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder: blindEmbedder(),
    chunk: { maxTokens: 64, overlapTokens: 0 },
  });
  await kb.ingest(documents);
  for (const maxTokens of [100, 500, 1500, 4000]) {
    const result = await tune(kb, { questions, present: { mode: "dense" }, chunkSizes: [16, 32, 128], maxTokens });
    expect(result.tokens).toBeLessThanOrEqual(maxTokens);
    if (result.stopped !== undefined) expect(result).toMatchObject({ clearlyBetter: false, best: result.present });
  }
  await kb.close();
});
