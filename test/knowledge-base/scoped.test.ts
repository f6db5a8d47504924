import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { KnowledgeBaseOptions } from "../../src/knowledge-base/options.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { Pipeline } from "../../src/core/pipeline.js";
import type { Searchable, Store } from "../../src/core/ports.js";
import { diversify } from "../../src/stages/retrieval/diversify.js";
import { widen } from "../../src/stages/retrieval/widen.js";
import { collect } from "../../src/core/stream.js";
import { vectorKey } from "../../src/text/chunking/chunk-identity.js";
import type { Document, Hit, Retrieved } from "../../src/core/types.js";
import type { RecordedRequest } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { streamed, transportFor } from "../support/transport-for.js";

/** Vectors by letters, any ranking, and one answer for all. */
function service({ path, body }: RecordedRequest) {
  if (path.endsWith("/chat/completions")) return streamed("Keys of mine expire [1].");
  const { input = [], documents = [] } = body as { input?: string[]; documents?: string[] };
  if (path.endsWith("/rerank")) {
    return { json: { results: documents.map((_, index) => ({ index, relevance_score: 1 - index / 100 })) } };
  }
  const embedding = (text: string) => Array.from({ length: 8 }, (_, at) => 1 + (text.charCodeAt(at % text.length) % 7));
  const data = input.map((text, index) => ({ index, embedding: embedding(text) }));
  return { json: { data, usage: { prompt_tokens: input.length } } };
}

async function openWith(options: Partial<KnowledgeBaseOptions> = {}) {
  const { transport, upstream } = await transportFor(service);
  const models = { embedding: "test/embed-m3", rerank: "test/rerank", chat: "test/chat" };
  const path = join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path, transport, models, ...options });
  onTestFinished(() => kb.close());
  return { kb, upstream };
}

const page = (tenant: string, number: number): Document => ({
  uri: `${tenant}:${number}`,
  text: `Keys of ${tenant} expire after ${number} days.\n\nLocks of ${tenant} rust in year ${number}.`,
  metadata: { tenant },
});
const pages = [1, 2, 3].flatMap((number) => [page("mine", number), page("theirs", number)]);

test("search and ask find, rank, widen and answer only within their scope", async () => {
  const { kb, upstream } = await openWith({ chunk: { maxTokens: 16, overlapTokens: 0 } });
  await kb.ingest(pages);
  const mine = kb.scoped({ metadata: { tenant: "mine" } });
  const before = upstream.requests.length;
  for (const options of [
    { mode: "dense" },
    { mode: "lexical" },
    { mode: "hybrid", topN: 50 },
    { diversity: 0.3, widenTokens: 100 },
    { filter: { metadata: { tenant: { in: ["mine", "theirs"] } } } },
  ] as const) {
    const { hits } = await mine.search("keys of theirs expire", { count: 50, ...options });
    expect(new Set(hits.map(({ uri }) => uri))).toEqual(new Set(["mine:1", "mine:2", "mine:3"]));
    expect(hits.filter(({ chunk }) => chunk.text.includes("theirs"))).toEqual([]);
  }
  const events = await collect(mine.ask("When do keys expire?", { widenTokens: 100 }));
  expect(events.at(-1)).toMatchObject({ type: "finish" });
  const sent = upstream.requests.slice(before).filter(({ path }) => !path.endsWith("/embeddings"));
  expect(sent.map(({ path }) => path.split("/").at(-1))).toEqual(["rerank", "rerank", "completions"]);
  for (const { body } of sent) {
    const { query: _, ...shown } = body as { readonly query?: string };
    expect(JSON.stringify(shown)).not.toContain("theirs");
    expect(JSON.stringify(shown)).toContain("mine");
  }
  expect((await mine.scoped({ metadata: { tenant: "theirs" } }).search("keys")).hits).toEqual([]);
  expect((await mine.documents()).map(({ uri }) => uri)).toEqual(["mine:1", "mine:2", "mine:3"]);
  expect(await mine.documents({ source: "elsewhere" })).toEqual([]);
  expect(await kb.documents()).toEqual(await kb.store.documents());
});

test("if a scope is required, nothing is found, answered or listed without one", async () => {
  const { kb } = await openWith({ requireScope: true });
  await kb.ingest(pages);
  await expect(kb.search("keys")).rejects.toMatchObject({ code: "scope" });
  await expect(kb.search("keys", { filter: { metadata: { tenant: "mine" } } })).rejects.toMatchObject({
    code: "scope",
  });
  await expect(kb.documents()).rejects.toMatchObject({ code: "scope" });
  await expect(kb.document("mine:1")).rejects.toMatchObject({ code: "scope" });
  await expect(kb.deleteDocuments(["mine:1"])).rejects.toMatchObject({ code: "scope" });
  expect((await collect(kb.ask("When do keys expire?"))).at(-1)).toMatchObject({
    type: "error",
    error: { code: "scope" },
  });
  const { hits } = await kb.scoped({ metadata: { tenant: "mine" } }).search("keys", { count: 50 });
  expect(hits.map(({ uri }) => uri).toSorted()).toEqual(["mine:1", "mine:2", "mine:3"]);
});

test("a document is read and deleted within a scope only if the scope lets it through", async () => {
  const { kb } = await openWith();
  await kb.ingest(pages);
  const mine = kb.scoped({ metadata: { tenant: "mine" } });
  expect(await mine.document("mine:1")).toEqual(page("mine", 1));
  expect(await mine.document("theirs:1")).toBeUndefined();
  expect(await mine.deleteDocuments(["theirs:1", "mine:1", "nobody's"])).toEqual({ documents: 1, chunks: 1 });
  const left = await kb.documents();
  expect(left.map(({ uri }) => uri)).toEqual(["mine:2", "mine:3", "theirs:1", "theirs:2", "theirs:3"]);
  expect(await kb.deleteDocuments(["theirs:1"])).toMatchObject({ documents: 1 });
});

test("a document whose metadata does not fit fails with the reason before it is embedded, and the others are stored", async () => {
  const { kb, upstream } = await openWith({ metadata: z.object({ tenant: z.string(), year: z.int().optional() }) });
  const report = await kb.ingest([
    page("mine", 1),
    { uri: "none", text: "Nobody's words." },
    { uri: "wrong", text: "Wrong words.", metadata: { tenant: "mine", year: "last" } },
    page("theirs", 1),
  ]);
  expect(report.documents).toEqual({ added: 2, updated: 0, unchanged: 0, deleted: 0, failed: 2 });
  expect(report.failures).toMatchObject([
    { uri: "none", error: { message: expect.stringContaining("metadata.tenant") } },
    { uri: "wrong", error: { message: expect.stringContaining("metadata.year") } },
  ]);
  expect(JSON.stringify(upstream.requests.map(({ body }) => body))).not.toMatch(/Nobody's|Wrong/);
  expect((await kb.store.documents()).map(({ uri }) => uri)).toEqual(["mine:1", "theirs:1"]);

  // The stored version stays when a later one does not fit.
  const later = await kb.ingest([{ ...page("mine", 1), text: "Other words.", metadata: {} }]);
  expect(later.documents).toMatchObject({ failed: 1, deleted: 0 });
  expect((await kb.store.document("mine:1"))!.text).toBe(page("mine", 1).text);
});

/** All hits of a store, as if a stage had ignored the scope. */
async function everyHit(store: Searchable): Promise<Retrieved> {
  const found = await store.lexical.retrieve({ text: "keys locks" }, { count: 100 });
  return { question: "keys", hits: await store.hits(found), trace: [] };
}

test("widening within a scope reads no document outside it, even for a hit that should not be there", async () => {
  const { kb } = await openWith({ chunk: { maxTokens: 16, overlapTokens: 0 } });
  await kb.ingest(pages);
  const given = await everyHit(kb.store);
  const scoped = kb.store.scoped({ metadata: { tenant: "mine" } });
  const stage = widen(scoped, { maxTokens: 100, to: "surroundings" });
  const [out] = await collect(Pipeline.from<Retrieved>().pipe(stage).stream([given]));
  const textsBefore = new Set(given.hits.map(({ chunk }) => chunk.text));
  const isWider = ({ chunk }: Hit) => !textsBefore.has(chunk.text);
  const whose = (tenant: string) => out!.hits.filter(({ uri }) => uri.startsWith(tenant));
  expect(whose("theirs").length).toBeGreaterThan(0);
  expect(whose("theirs").filter(isWider)).toEqual([]);
  expect(whose("mine").every(isWider)).toBe(true);
});

test("diversifying asks the store for the vectors of its hits, and for no others", async () => {
  const { kb } = await openWith();
  await kb.ingest(pages);
  const { hits, ...rest } = await everyHit(kb.store.scoped({ metadata: { tenant: "mine" } }));
  const asked: string[] = [];
  const recording: Pick<Store, "knownVectors"> = {
    knownVectors: (keys) => {
      asked.push(...keys);
      return kb.store.knownVectors(keys);
    },
  };
  const flow = Pipeline.from<Retrieved>().pipe(diversify(recording, { lambda: 0.5 }));
  const [out] = await collect(flow.stream([{ ...rest, hits }]));
  expect(out!.hits.map(({ uri }) => uri).toSorted()).toEqual(["mine:1", "mine:2", "mine:3"]);
  expect(asked.toSorted()).toEqual(hits.map(({ chunk }) => vectorKey(chunk)).toSorted());
});

test("a conversation belongs to the scope that began it, whatever its id, and lists only within it", async () => {
  const { kb, upstream } = await openWith({ requireScope: true });
  await kb.ingest(pages);
  const mine = kb.scoped({ metadata: { tenant: "mine" }, mediaType: { exists: false } });
  const theirs = kb.scoped({ metadata: { tenant: "theirs" } });
  await collect(mine.conversation({ id: "talk" }).ask("when do keys expire?"));
  await collect(theirs.conversation({ id: "talk" }).ask("and what did they ask?"));
  const sent = JSON.stringify(upstream.requests.at(-1)!.body);
  expect(sent).toContain("and what did they ask?");
  expect(sent).not.toContain("when do keys expire?");
  // The same scope, its fields in another order, goes on where it was.
  const again = kb.scoped({ mediaType: { exists: false }, metadata: { tenant: "mine" } });
  expect(await again.conversation({ id: "talk" }).exchanges()).toMatchObject([
    {
      question: "when do keys expire?",
      answer: {
        text: "Keys of mine expire [1].",
        citations: [{ number: 1, uri: expect.stringMatching(/^mine:/) as string }],
      },
    },
  ]);
  expect(await again.conversations()).toMatchObject([{ id: "talk", title: "when do keys expire?" }]);
  expect(await theirs.conversations()).toMatchObject([{ id: "talk", title: "and what did they ask?" }]);
  expect(await kb.conversations()).toEqual([]);
  // A scope within the scope is another one.
  expect(await mine.scoped({ uri: "mine:1" }).conversations()).toEqual([]);
});
