import { expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../src/pipeline.js";
import { skipKnown } from "../../src/stages/skip-known.js";
import { collect } from "../../src/stream.js";
import { vectorKey } from "../../src/text/chunk-identity.js";
import type { DocumentChunk } from "../../src/types.js";
import { chunksOf } from "../support/chunks-of.js";
import { memoryStore } from "../support/memory-store.js";
import { wordVector } from "../support/word-embedder.js";

async function storeOf(...documents: readonly DocumentChunk[][]) {
  const store = memoryStore("words");
  for (const chunks of documents) {
    const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)]));
    await store.write({ vectors, documents: [{ document: chunks[0]!.document, chunks }] });
  }
  return store;
}

async function run(store: Parameters<typeof skipKnown>[0], chunks: readonly DocumentChunk[]) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const source = (async function* () {
    yield* chunks;
  })();
  return { out: await collect(skipKnown(store).run(source, context)), events };
}

test("a document that is stored as it is goes no further, and is reported", async () => {
  const known = chunksOf("a", "one", "two");
  const fresh = chunksOf("b", "three");
  const { out, events } = await run(await storeOf(known), [...known, ...fresh]);
  expect(out).toEqual(fresh);
  expect(events).toEqual([{ type: "document", uri: "a", outcome: "unchanged", chunks: 2 }]);
});

test("of a changed document, chunks whose text is known have their vector already", async () => {
  const { out, events } = await run(await storeOf(chunksOf("a", "one", "two")), chunksOf("a", "one", "new", "two"));
  expect(out.map((chunk) => ("vector" in chunk ? chunk.vector : undefined))).toEqual([
    wordVector("one"),
    undefined,
    wordVector("two"),
  ]);
  expect(out[0]).toMatchObject({ space: "words" });
  expect(events).toEqual([]);
});

test("a document that moved keeps its vectors", async () => {
  const { out } = await run(await storeOf(chunksOf("old", "one")), chunksOf("new", "one"));
  expect(out).toMatchObject([{ documentId: "new", vector: wordVector("one") }]);
});

test("a document whose title alone changed is written again", async () => {
  const chunks = chunksOf("a", "one");
  const renamed = chunks.map((chunk) => ({ ...chunk, document: { ...chunk.document, title: "New" } }));
  const { out } = await run(await storeOf(chunks), renamed);
  expect(out).toMatchObject([{ documentId: "a", vector: wordVector("one") }]);
});

test("the store is asked once a document, each text once", async () => {
  const asked: (readonly string[])[] = [];
  const store = await storeOf();
  const watched = {
    ...store,
    knownVectors: (keys: readonly string[]) => {
      asked.push(keys);
      return store.knownVectors(keys);
    },
  };
  await run(watched, [...chunksOf("a", "same", "same", "other"), ...chunksOf("b", "more")]);
  expect(asked.map((keys) => keys.length)).toEqual([2, 1]);
});
