import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Pipeline } from "../../../src/core/pipeline.js";
import type { Embedder } from "../../../src/core/ports.js";
import type { Document } from "../../../src/core/types.js";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import { memoryStore } from "../../../src/conformance/memory-store.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { planIngest } from "../../../src/knowledge-base/plan.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { chunk } from "../../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../../src/stages/indexing/embed-chunks.js";
import { skipKnown } from "../../../src/stages/indexing/skip-known.js";
import { store } from "../../../src/stages/indexing/store.js";
import { openStore } from "../../../src/store/open-store.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** An embedder whose members are inherited, so that a spread would copy none of them, as with a class. */
class CountingEmbedder implements Embedder<"counting"> {
  readonly sent: string[] = [];
  get space(): "counting" {
    return "counting";
  }
  get maxInputTokens(): number {
    return 512;
  }
  get maxBatchTexts(): number {
    return 4;
  }
  get tokens(): typeof defaultTokens {
    return defaultTokens;
  }
  async embed(texts: readonly string[]): ReturnType<Embedder["embed"]> {
    this.sent.push(...texts);
    return { vectors: texts.map((text) => Float32Array.of(1, text.length, 0)), tokens: texts.length };
  }
}

async function openEmpty(embedder: CountingEmbedder) {
  const kb = await openStore(join(await temporaryFolder(), "store"), embedder);
  onTestFinished(() => kb.close());
  return kb;
}

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(await temporaryFolder(), "docs");
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test.each(["the usual stages", "your own pipeline"])(
  "%s: an emptied and a deleted file and a blank document are not found any more",
  async (which) => {
    const embedder = new CountingEmbedder();
    const kb = await openEmpty(embedder);
    const pipeline = Pipeline.from<Document>()
      .pipe(chunk({ for: embedder }))
      .pipe(skipKnown(kb))
      .pipe(embedChunks(embedder))
      .pipe(store(kb));
    const how = which === "the usual stages" ? { store: kb, embedder } : { store: kb, pipeline };
    const folder = await folderOf({ "kept.md": "Moles dig.", "emptied.md": "Voles hide.", "gone.md": "Bats sleep." });
    expect((await ingest(readFolder(folder), how)).documents).toMatchObject({ added: 3 });
    await writeFile(join(folder, "emptied.md"), "");
    await rm(join(folder, "gone.md"));
    const report = await ingest(readFolder(folder), how);
    expect(report.documents).toEqual({ added: 0, updated: 0, unchanged: 1, deleted: 2, failed: 0 });
    expect(await kb.counts()).toMatchObject({ documents: 1, chunks: 1 });
    for (const text of ["voles", "bats"]) expect(await kb.lexical.retrieve({ text }, { count: 5 })).toEqual([]);
    expect(embedder.sent).toHaveLength(3);
    const memo = { uri: "memo:1", text: "Bees hum." };
    await ingest([memo], how);
    expect((await ingest([{ ...memo, text: " \n" }], how)).documents).toMatchObject({ updated: 1 });
    expect(await kb.lexical.retrieve({ text: "bees" }, { count: 5 })).toEqual([]);
  },
);

test("a pipeline made of the run keeps to the run's budget, and its paid vectors are kept", async () => {
  const embedder = new CountingEmbedder();
  const kb = await openEmpty(embedder);
  const documents = Array.from({ length: 9 }, (_, index) => ({ uri: `memo:${index}`, text: `Mole ${index} digs.` }));
  const ingestWithin = (maxTokens: number) =>
    ingest(documents, {
      store: kb,
      maxTokens,
      pipeline: ({ store: into, payments }) =>
        Pipeline.from<Document>()
          .pipe(chunk({ for: embedder }))
          .pipe(skipKnown(into))
          .pipe(embedChunks(embedder, { concurrency: 1, payments }))
          .pipe(store(into)),
    });
  const report = await ingestWithin(25);
  expect(report.stopped?.reason).toMatch(/The budget is 25 tokens/);
  const sentBefore = embedder.sent.length;
  expect(sentBefore).toBeGreaterThan(0);
  expect(sentBefore).toBeLessThan(9);
  expect(await kb.counts()).toMatchObject({ documents: report.documents.added });
  expect((await ingestWithin(1000)).documents).toMatchObject({ failed: 0 });
  expect(embedder.sent).toHaveLength(9);
  expect(new Set(embedder.sent).size).toBe(9);
});

test("a budget that a ready pipeline cannot keep to is refused, with the way to pass it on", async () => {
  const embedder = new CountingEmbedder();
  const kb = await openEmpty(embedder);
  await expect(ingest([], { store: kb, pipeline: Pipeline.from<Document>(), maxTokens: 5 })).rejects.toThrow(
    /pipeline: \(\{ store, payments \}\) =>/,
  );
});

test("your own stages can stand before chunking and before embedding, in a plan too", async () => {
  const embedder = new CountingEmbedder();
  const kb = await openEmpty(embedder);
  const loud = {
    name: "loud",
    run: async function* (source: AsyncIterable<Document>) {
      for await (const document of source) yield { ...document, text: document.text.toUpperCase() };
    },
  };
  const documents = [{ uri: "memo:1", text: "Moles dig." }];
  const options = { store: kb, embedder, documents: loud };
  expect(await planIngest(documents, options)).toMatchObject({ documents: 1, chunks: 1, requests: 1 });
  await ingest(documents, options);
  expect(embedder.sent).toEqual(["MOLES DIG."]);
});

test("an option that ingest does not know is refused, even inside chunk", async () => {
  const embedder = new CountingEmbedder();
  const kb = await openEmpty(embedder);
  const bad: object[] = [
    { store: kb, embedder, maxToken: 5 },
    { store: kb, embedder, chunk: { maxToken: 64 } },
    { store: kb, pipeline: Pipeline.from<Document>(), chunk: {} },
    { embedder },
  ];
  for (const options of bad) {
    await expect(ingest([], options as Parameters<typeof ingest>[1])).rejects.toMatchObject({ code: "options" });
  }
});

test("a knowledge base works on your own store and models, and starts no service", async () => {
  const embedder = new CountingEmbedder();
  const own = await openEmpty(embedder);
  const chatModel = {
    model: "none",
    contextTokens: 8000,
    maxOutputTokens: 100,
    maxMessages: 10,
    tokens: defaultTokens,
    stream: () => {
      throw new Error("not asked");
    },
  };
  const kb = await openKnowledgeBase({ store: own, embedder, chatModel });
  await kb.ingest([{ uri: "memo:1", text: "Moles dig." }]);
  const { hits } = await kb.search("moles");
  expect(hits.map(({ uri }) => uri)).toEqual(["memo:1"]);
  // A store of openStore() keeps conversations, whoever opened it.
  expect(await kb.conversation({ id: "one" }).info()).toBeUndefined();
  await kb.close();
  expect(await own.counts()).toMatchObject({ documents: 1 });
});

test("a store that keeps no conversations says who does, when one is wanted", async () => {
  const embedder = new CountingEmbedder();
  const kb = await openKnowledgeBase({ store: memoryStore(embedder.space), embedder });
  onTestFinished(() => kb.close());
  expect(() => kb.conversation({ id: "one" })).toThrow(/kept by the stores of openStore\(\) and openPostgresStore\(\)/);
});
