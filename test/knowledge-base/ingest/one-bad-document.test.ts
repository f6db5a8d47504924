import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Pipeline } from "../../../src/core/pipeline.js";
import type { Document, Json } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { allSources } from "../../../src/load/sources/source.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { chunk } from "../../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../../src/stages/indexing/embed-chunks.js";
import { store } from "../../../src/stages/indexing/store.js";
import { openStore } from "../../../src/store/open-store.js";
import { documentFingerprint } from "../../../src/text/chunking/chunk-identity.js";
import { handbook } from "../../support/citewell.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { wordEmbedder } from "../../support/word-embedder.js";

function nested(levels: number): Json {
  let value: Json = "deep";
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

async function emptyKnowledgeBase() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  return kb;
}

test("a file that is read twice in one run is stored once and counted once", async () => {
  const kb = await emptyKnowledgeBase();
  const source = allSources([readFolder(handbook), readFile(join(handbook, "leave.md"))]);
  const first = await kb.ingest(source);
  expect(first.documents).toEqual({ added: 3, updated: 0, unchanged: 0, deleted: 0, failed: 0 });
  expect((await kb.verify()).problems).toEqual([]);
  expect((await kb.ingest(source)).documents).toMatchObject({ unchanged: 3 });
});

test("the same document twice in a row does not join its chunks", async () => {
  const kb = await emptyKnowledgeBase();
  const document = { uri: "note:1", text: "Moles dig." };
  expect(await kb.ingest([document, document, { ...document, text: "Moles sleep." }])).toMatchObject({
    documents: { added: 1, updated: 0 },
  });
  expect((await kb.store.document("note:1"))?.text).toBe("Moles sleep.");
});

test("metadata nested too deep for the store fails its own document", async () => {
  const kb = await emptyKnowledgeBase();
  const report = await kb.ingest([
    { uri: "note:1", text: "Moles dig." },
    { uri: "note:2", text: "Voles hide.", metadata: { deep: nested(1001) } },
    { uri: "note:3", text: "Bats sleep.", metadata: { deep: nested(50) } },
  ]);
  expect(report.documents).toMatchObject({ added: 2, failed: 1 });
  expect(report.failures).toMatchObject([{ uri: "note:2", error: { code: "options" } }]);
});

test("a document that the store cannot take fails alone, and its vectors are kept", async () => {
  const embedder = wordEmbedder();
  const kb = await openStore(join(await temporaryFolder(), "store"), embedder);
  onTestFinished(() => kb.close());
  const refusing = {
    ...kb,
    space: kb.space,
    dimension: kb.dimension,
    write: async (write: Parameters<typeof kb.write>[0]) => {
      if (write.documents?.some(({ document }) => document.uri === "note:2")) throw new Error("constraint failed");
      return kb.write(write);
    },
  };
  const failures = new Map<string, string>();
  const pipeline = Pipeline.from<Document>().pipe(chunk()).pipe(embedChunks(embedder)).pipe(store(refusing));
  const documents = [1, 2, 3].map((at) => ({ uri: `note:${at}`, text: `Mole ${at} digs.` }));
  const outcomes: string[] = [];
  const report = (event: { type: string; uri?: string; outcome?: string; error?: Error }) => {
    if (event.type !== "document") return;
    outcomes.push(`${event.uri} ${event.outcome}`);
    if (event.error) failures.set(event.uri!, event.error.message);
  };
  for await (const _ of pipeline.stream(documents, { report }));
  expect(outcomes.toSorted()).toEqual(["note:1 added", "note:2 failed", "note:3 added"]);
  expect(failures.get("note:2")).toBe("constraint failed");
  expect(await kb.counts()).toMatchObject({ documents: 2, vectors: 3 });
  expect(embedder.calls.flat()).toHaveLength(3);
});

test("the fingerprint of a document takes any number of chunks", () => {
  const one = { id: "a", documentId: "d", start: 0, end: 1, text: "a", context: "", tokens: 1 };
  const many = Array.from({ length: 300_000 }, () => one);
  expect(documentFingerprint({ uri: "d", text: "a" }, many)).toHaveLength(32);
});
