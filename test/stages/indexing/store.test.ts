import { expect, test } from "vitest";
import { z } from "zod";
import { createRunContext, Pipeline, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { embedChunks } from "../../../src/stages/indexing/embed-chunks.js";
import { fitMetadata, store, storeBlank } from "../../../src/stages/indexing/store.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import type { Document, DocumentChunk, Embedded, StoredDocument } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { memoryStore, type MemoryStore } from "../../support/memory-store.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";

type Item = Embedded<DocumentChunk, "words">;

function embedded(uri: string, ...texts: readonly string[]): Item[] {
  return chunksOf(uri, ...texts).map((chunk) => ({ ...chunk, vector: wordVector(chunk.text), space: "words" }));
}

async function run(kb: MemoryStore<"words">, source: AsyncIterable<Item>, failing: readonly string[] = []) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  for (const uri of failing) context.failures.set(uri, new Error("lost a part"));
  const out: StoredDocument[] = [];
  let thrown: unknown;
  try {
    for await (const stored of store(kb).run(source, context)) out.push(stored);
  } catch (error) {
    thrown = error;
  }
  return { out, events, thrown };
}

async function* stream(items: readonly Item[], error?: Error): AsyncGenerator<Item> {
  yield* items;
  if (error) throw error;
}

const has = async (kb: MemoryStore, ...texts: readonly string[]) => {
  const keys = texts.map((text) => vectorKey({ text, context: "" }));
  return (await kb.knownVectors(keys)).size === texts.length;
};

test("documents are written whole, and each one's outcome is reported", async () => {
  const kb = memoryStore("words");
  await run(kb, stream(embedded("a", "one", "two")));
  const { out, events } = await run(kb, stream([...embedded("a", "one", "three"), ...embedded("b", "four")]));
  expect(out).toEqual([
    { storedUri: "a", outcome: "updated", chunks: 2, deletedChunks: 1 },
    { storedUri: "b", outcome: "added", chunks: 1, deletedChunks: 0 },
  ]);
  expect(events).toEqual([
    { type: "document", uri: "a", outcome: "updated", chunks: 2, deletedChunks: 1 },
    { type: "document", uri: "b", outcome: "added", chunks: 1, deletedChunks: 0 },
  ]);
  const [a] = kb.contents();
  expect(a!.chunks.map(({ text }) => text)).toEqual(["one", "three"]);
  expect(a!.chunks[0]).not.toHaveProperty("vector");
  expect(a!.chunks[0]).not.toHaveProperty("document");
});

test("chunks that arrive together are written together", async () => {
  const kb = memoryStore("words");
  const items = Array.from({ length: 100 }, (_, index) => embedded(`doc${index}`, `text ${index}`)).flat();
  await run(kb, stream(items));
  expect(kb.writes).toHaveLength(2);
  expect((await kb.counts()).documents).toBe(100);
});

test("vectors are written at once, the document only when it is complete", async () => {
  const kb = memoryStore("words");
  const items = embedded("a", "one", "two");
  const seen: { documents: number; vectors: number }[] = [];
  const slow = async function* () {
    for (const item of items) {
      yield item;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const { documents, vectors } = await kb.counts();
      seen.push({ documents, vectors });
    }
  };
  await run(kb, slow());
  expect(seen).toEqual([
    { documents: 0, vectors: 1 },
    { documents: 0, vectors: 2 },
  ]);
  expect((await kb.counts()).documents).toBe(1);
});

test("when the stream fails, the vectors that came are kept and the incomplete document stays unchanged", async () => {
  const kb = memoryStore("words");
  await run(kb, stream(embedded("b", "old")));
  const gone = new Error("gone");
  const { thrown } = await run(kb, stream([...embedded("a", "one"), ...embedded("b", "new", "part")], gone));
  expect(thrown).toBe(gone);
  expect(kb.contents().map(({ document }) => document.text)).toEqual(["one", "old"]);
  expect(await has(kb, "one", "new", "part")).toBe(true);
});

test("a document that lost a part stays unchanged, and its vectors are kept", async () => {
  const kb = memoryStore("words");
  const { out } = await run(kb, stream([...embedded("bad", "one"), ...embedded("good", "two")]), ["bad"]);
  expect(out.map(({ storedUri }) => storedUri)).toEqual(["good"]);
  expect(await has(kb, "one")).toBe(true);
});

test("an empty stream writes nothing", async () => {
  const kb = memoryStore("words");
  await run(kb, stream([]));
  expect(kb.writes).toEqual([]);
});

test("after an abort and a second run the store equals that of one run, and nothing was embedded twice", async () => {
  const documents = Array.from({ length: 12 }, (_, document) =>
    chunksOf(`doc${document}`, ...Array.from({ length: 5 }, (_line, line) => `text ${document} ${line}`)),
  ).flat();
  const whole = memoryStore("words");
  await drain(Pipeline.from<DocumentChunk>().pipe(embedChunks(wordEmbedder())).pipe(store(whole)).stream(documents));

  for (const abortAt of [0, 1, 4, 9]) {
    const kb = memoryStore("words");
    const controller = new AbortController();
    const reason = new Error("stop");
    const taken: string[] = [];
    const embedder = wordEmbedder({
      maxBatchTexts: 4,
      before: async (texts, { signal }, index) => {
        if (index === abortAt) controller.abort(reason);
        await new Promise(setImmediate);
        signal?.throwIfAborted();
        taken.push(...texts);
      },
    });
    const flow = Pipeline.from<DocumentChunk>()
      .pipe(embedChunks(embedder, { concurrency: 2 }))
      .pipe(store(kb));
    await expect(drain(flow.stream(documents, { signal: controller.signal }))).rejects.toBe(reason);
    expect(await has(kb, ...taken)).toBe(true);

    const known = await kb.knownVectors(documents.map(vectorKey));
    const rest = documents.map((chunk) => {
      const vector = known.get(vectorKey(chunk));
      return vector ? { ...chunk, vector, space: "words" } : chunk;
    });
    await drain(flow.stream(rest));
    expect(kb.contents()).toEqual(whole.contents());
    expect(taken.toSorted()).toEqual(documents.map(({ text }) => text).toSorted());
  }
});

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

test("a document without a word is stored without chunks, once, and is passed on to nobody", async () => {
  const kb = memoryStore("words");
  const blank = { uri: "a", text: " \n" };
  const full = { uri: "b", text: "Words." };
  await run(kb, stream(embedded("a", "old")));
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const pass = () => collect(storeBlank(kb).run(arriving(blank, full), context));
  expect(await pass()).toEqual([full]);
  expect(await pass()).toEqual([full]);
  expect(events).toEqual([
    { type: "document", uri: "a", outcome: "updated", chunks: 0, deletedChunks: 1 },
    { type: "document", uri: "a", outcome: "unchanged", chunks: 0 },
  ]);
  expect(kb.contents().map(({ document, chunks }) => [document.text, chunks])).toEqual([[blank.text, []]]);
});

test("half of a surrogate pair is replaced in a title, and fails a document that has it in its uri or source", async () => {
  const half = "Keys \ud83d";
  const context = createRunContext();
  const given = [
    { uri: "a", title: half, text: half },
    { uri: half, text: "Words." },
    { uri: "b", source: half, text: "Words." },
  ];
  expect(await collect(fitMetadata({}).run(arriving(...given), context))).toEqual([
    { uri: "a", title: "Keys \ufffd", text: half },
  ]);
  expect([...context.failures.keys()]).toEqual([half, "b"]);
  expect(context.failures.get("b")!.message).toContain("the source has half of a surrogate pair");
});

test("a document whose metadata does not fit the store fails, and the others are passed on", async () => {
  const fitting = { uri: "a", text: "Words.", metadata: { year: 2024 } };
  const other = { uri: "b", text: "Words.", metadata: { year: "2024" } };
  const context = createRunContext();
  const metadataSchema = z.object({ year: z.int() });
  expect(await collect(fitMetadata({ metadataSchema }).run(arriving(other, fitting), context))).toEqual([fitting]);
  expect([...context.failures.keys()]).toEqual(["b"]);
  expect(context.failures.get("b")!.message).toContain("metadata.year");
});

async function* arriving(...all: readonly Document[]): AsyncGenerator<Document> {
  yield* all;
}
