import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { Pipeline, type RunEvent } from "../../../src/core/pipeline.js";
import type { Store } from "../../../src/core/ports.js";
import { chunk } from "../../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../../src/stages/indexing/embed-chunks.js";
import { embedQuestion } from "../../../src/stages/questions/embed-question.js";
import { search } from "../../../src/stages/retrieval/search.js";
import { skipKnown } from "../../../src/stages/indexing/skip-known.js";
import { store } from "../../../src/stages/indexing/store.js";
import { openStore } from "../../../src/store/open-store.js";
import { collect } from "../../../src/core/stream.js";
import type { Document, Question } from "../../../src/core/types.js";
import { memoryStore } from "../../support/memory-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { wordEmbedder, type WordEmbedder } from "../../support/word-embedder.js";

const stores: readonly (readonly [string, () => Promise<Store<"words">>])[] = [
  ["a store in memory", async () => memoryStore("words")],
  [
    "the embedded store",
    async () => {
      const kb = await openStore(join(await temporaryFolder(), "kb"), wordEmbedder());
      onTestFinished(() => kb.close());
      return kb;
    },
  ],
];

function ingestInto(kb: Store<"words">, embedder: WordEmbedder) {
  return Pipeline.from<Document>()
    .pipe(chunk({ for: embedder, maxTokens: 16, overlapTokens: 0 }))
    .pipe(skipKnown(kb))
    .pipe(embedChunks(embedder, { concurrency: 3, batchTexts: 2 }))
    .pipe(store(kb));
}

/** Paragraphs of a document; equal numbers are equal paragraphs, so that texts recur within and across documents. */
const paragraphs = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 });
const folder = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), paragraphs, { minKeys: 1 });

function documentsOf(files: Readonly<Record<string, readonly number[]>>): Document[] {
  return Object.entries(files).map(([uri, numbers]) => ({
    uri,
    mediaType: "text/markdown",
    text: numbers.map((number) => `Paragraph ${number} says ${"some more words ".repeat(4)}${number}.`).join("\n\n"),
  }));
}

describe.each(stores)("ingesting into %s", (_, open) => {
  test("runs aborted anywhere, with edits between them, end in the result of one run, and embed nothing twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ files: folder, abortAt: fc.integer({ min: 0, max: 12 }) }), {
          minLength: 1,
          maxLength: 3,
        }),
        async (edits) => {
          const kb = await open();
          for (const { files, abortAt } of edits) {
            const sent: string[] = [];
            const controller = new AbortController();
            const reason = new Error("stop");
            const embedder = wordEmbedder({
              before: async (texts, { signal }, index) => {
                if (index === abortAt) controller.abort(reason);
                await new Promise(setImmediate);
                signal!.throwIfAborted();
                sent.push(...texts);
              },
            });
            const documents = documentsOf(files);
            const run = collect(ingestInto(kb, embedder).stream(documents, { signal: controller.signal }));
            await run.catch((error: unknown) => expect(error).toBe(reason));
            const again = wordEmbedder({ before: (texts) => void sent.push(...texts) });
            await collect(ingestInto(kb, again).stream(documents));
            expect(new Set(sent).size).toBe(sent.length);
          }
          const whole = memoryStore("words");
          for (const { files } of edits) await collect(ingestInto(whole, wordEmbedder()).stream(documentsOf(files)));
          expect(await kb.documents()).toEqual(await whole.documents());
          const { documents, chunks } = await kb.counts();
          expect({ documents, chunks }).toEqual({
            documents: (await whole.counts()).documents,
            chunks: (await whole.counts()).chunks,
          });
        },
      ),
      { numRuns: 15 },
    );
  });

  test("a second run over the same documents sends nothing and reports each as unchanged", async () => {
    const kb = await open();
    const documents = documentsOf({ a: [1, 2, 3], b: [3, 4] });
    await collect(ingestInto(kb, wordEmbedder()).stream(documents));
    const embedder = wordEmbedder();
    const events: RunEvent[] = [];
    await collect(ingestInto(kb, embedder).stream(documents, { report: (event) => events.push(event) }));
    expect(embedder.calls).toEqual([]);
    const stored = await kb.documents();
    expect(stored).toHaveLength(2);
    expect(events).toEqual(stored.map(({ uri, chunks }) => ({ type: "document", uri, outcome: "unchanged", chunks })));
  });

  test("ingested documents are found by words and by vector", async () => {
    const kb = await open();
    const documents = [
      { uri: "pears", text: "Pears are green and grow on trees." },
      { uri: "sky", text: "The sky is blue." },
    ];
    await collect(ingestInto(kb, wordEmbedder()).stream(documents));
    for (const mode of ["hybrid", "dense", "lexical"] as const) {
      const ask = Pipeline.from<Question>()
        .pipe(embedQuestion(wordEmbedder()))
        .pipe(search(kb, { mode, count: 1 }));
      const [retrieved] = await collect(ask.stream([{ question: "green pears" }]));
      expect(retrieved!.hits).toMatchObject([{ uri: "pears", chunk: { start: 0, text: documents[0]!.text }, line: 1 }]);
    }
  });
});
