import { describe, expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { skipKnown, skipUnchanged } from "../../../src/stages/indexing/skip-known.js";
import { collect } from "../../../src/core/stream.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import type { Document, DocumentChunk } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordVector } from "../../support/word-embedder.js";

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

test("a document that is stored unchanged is dropped and reported", async () => {
  const known = chunksOf("a", "one", "two");
  const fresh = chunksOf("b", "three");
  const { out, events } = await run(await storeOf(known), [...known, ...fresh]);
  expect(out).toEqual(fresh);
  expect(events).toEqual([{ type: "document", uri: "a", outcome: "unchanged", chunks: 2 }]);
});

test("in a changed document, chunks whose text is known get their stored vector", async () => {
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

test("the store is asked once for all documents that come together, for each text once", async () => {
  const asked: (readonly string[])[] = [];
  const store = await storeOf();
  const watched = {
    ...store,
    knownVectors: (keys: readonly string[]) => {
      asked.push(keys);
      return store.knownVectors(keys);
    },
  };
  await run(watched, [...chunksOf("a", "same", "same", "other"), ...chunksOf("b", "more", "same")]);
  expect(asked.map((keys) => keys.length)).toEqual([3]);
});

describe("before documents are cut", () => {
  const document: Document = { uri: "a", text: "one", title: "A", metadata: { year: 2024 }, mediaType: "text/plain" };

  /** The documents that pass when `document` is stored. */
  async function passing(given: Document, wasCutAsNow: boolean) {
    const store = memoryStore("words");
    const chunks = chunksOf("a", "one").map((chunk) => ({ ...chunk, document }));
    const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)]));
    await store.write({ vectors, documents: [{ document, chunks }] });
    const events: RunEvent[] = [];
    const source = (async function* () {
      yield given;
    })();
    const context = createRunContext({ report: (event) => events.push(event) });
    return {
      out: await collect(skipUnchanged(store, async (uris) => new Set(wasCutAsNow ? uris : [])).run(source, context)),
      events,
    };
  }

  test("a document that is stored unchanged and was cut as now is dropped, and reported with its chunks", async () => {
    const { out, events } = await passing({ ...document }, true);
    expect(out).toEqual([]);
    expect(events).toEqual([{ type: "document", uri: "a", outcome: "unchanged", chunks: 1 }]);
  });

  test.each<[string, Document, boolean]>([
    ["was cut in another way", document, false],
    ["is not stored", { ...document, uri: "b" }, true],
    ["has another text", { ...document, text: "two" }, true],
    ["has another title", { ...document, title: "B" }, true],
    ["has other metadata", { ...document, metadata: { year: 2025 } }, true],
    ["has another media type", { ...document, mediaType: "text/markdown" }, true],
    ["has other anchors", { ...document, anchors: [{ start: 0, page: 2 }] }, true],
    ["has another revision", { ...document, revision: { etag: "2" } }, true],
  ])("a document that %s passes", async (_what, given, wasCutAsNow) => {
    expect(await passing(given, wasCutAsNow)).toEqual({ out: [given], events: [] });
  });
});
