import { expect, test } from "vitest";
import { type Document, ingest, LoadError, type RunContext } from "../../../src/index.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordEmbedder } from "../../support/word-embedder.js";

const document = (uri: string): Document => ({ uri, text: `About ${uri}`, source: `source of ${uri}` });

test("documents missing from a complete reading are deleted if the source says they are gone, but never failed ones", async () => {
  const store = memoryStore("words");
  const embedder = wordEmbedder();
  await ingest(["gone.md", "kept.md", "read.md", "unreadable.md"].map(document), { store, embedder });
  const asked: (readonly [string, string | undefined])[] = [];
  const source = {
    read: async function* ({ failures, report }: RunContext) {
      yield document("read.md");
      const error = new LoadError("unreadable", "unreadable.md", "busy");
      failures.set(error.uri, error);
      report({ type: "document", uri: error.uri, outcome: "failed", chunks: 0, error });
    },
    vanished: (uri: string, storedFrom?: string) => {
      asked.push([uri, storedFrom]);
      return uri !== "kept.md";
    },
  };
  const { documents, chunks, failures } = await ingest(source, { store, embedder });
  expect(documents).toEqual({ added: 0, updated: 0, unchanged: 1, deleted: 1, failed: 1 });
  expect(chunks.deleted).toBe(1);
  expect(failures.map(({ uri }) => uri)).toEqual(["unreadable.md"]);
  expect((await store.documents()).map(({ uri }) => uri)).toEqual(["kept.md", "read.md", "unreadable.md"]);
  expect(asked).toEqual([
    ["gone.md", "source of gone.md"],
    ["kept.md", "source of kept.md"],
  ]);
});

test("a list of documents, which cannot say what is gone, deletes nothing", async () => {
  const store = memoryStore("words");
  const embedder = wordEmbedder();
  await ingest([document("a.md"), document("b.md")], { store, embedder });
  expect((await ingest([document("a.md")], { store, embedder })).documents).toMatchObject({ deleted: 0 });
  expect(await store.documents()).toHaveLength(2);
});
