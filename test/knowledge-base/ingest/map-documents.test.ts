import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function twoNotes() {
  const folder = await temporaryFolder();
  const docs = join(folder, "docs");
  await mkdir(join(docs, "north"), { recursive: true });
  await writeFile(join(docs, "north", "moles.md"), "Moles dig. Call 555-0199.");
  await writeFile(join(docs, "voles.md"), "Voles hide.");
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  onTestFinished(() => kb.close());
  const textOf = async (name: string) => (await kb.documents()).find(({ uri }) => uri.endsWith(name));
  return { kb, docs, textOf };
}

const redact = (document: Document): Document => ({ ...document, text: document.text.replaceAll(/\d{3}-\d{4}/g, "…") });

test("map changes every document before it is cut and embedded, also later than at once", async () => {
  const { kb, docs } = await twoNotes();
  const map = async (document: Document) => {
    await sleep(1);
    const team = fileURLToPath(document.uri).includes("north") ? "north" : "south";
    return { ...redact(document), metadata: { team } };
  };
  expect((await kb.ingest(readFolder(docs), { map })).documents).toMatchObject({ added: 2 });
  const { hits } = await kb.search("moles", { filter: { metadata: { team: "north" } } });
  expect(hits.map(({ chunk }) => chunk.text)).toEqual(["Moles dig. Call …."]);
  expect((await kb.search("0199")).hits.some(({ chunk }) => chunk.text.includes("0199"))).toBe(false);
});

test("an unchanged file is unchanged while map makes the same of it, and stored anew once it makes something else", async () => {
  const { kb, docs } = await twoNotes();
  await kb.ingest(readFolder(docs));
  const first = await kb.ingest(readFolder(docs), { map: redact });
  expect(first.documents).toMatchObject({ updated: 1, unchanged: 1 });
  expect((await kb.ingest(readFolder(docs), { map: redact })).documents).toMatchObject({ updated: 0, unchanged: 2 });
  expect((await kb.plan(readFolder(docs), { map: (document) => document })).outcomes).toMatchObject({ updated: 1 });
  expect((await kb.ingest(readFolder(docs))).documents).toMatchObject({ updated: 1, unchanged: 1 });
});

test("a document that map leaves out is skipped, and what is stored of it goes", async () => {
  const { kb, docs, textOf } = await twoNotes();
  await kb.ingest(readFolder(docs));
  const map = (document: Document) => (document.uri.includes("voles") ? null : document);
  const report = await kb.ingest(readFolder(docs, { include: ["*.md", "**/*.md"] }), { map });
  expect(report.documents).toMatchObject({ unchanged: 1, deleted: 1, failed: 0 });
  expect(report.skipped).toEqual([{ uri: expect.stringContaining("voles.md"), reason: "map left it out" }]);
  expect(await textOf("voles.md")).toBeUndefined();
  expect((await kb.ingest(readFolder(docs), { map })).documents).toMatchObject({ unchanged: 1, deleted: 0 });
  const rows = [{ uri: "row:1", text: "One." }];
  await kb.ingest(rows);
  expect((await kb.ingest(rows, { map: () => null })).documents).toMatchObject({ deleted: 1 });
});

test.each<[string, (document: Document) => unknown, string]>([
  [
    "throws",
    () => {
      throw new Error("no dictionary");
    },
    "no dictionary",
  ],
  ["rejects", () => Promise.reject(new Error("no dictionary")), "no dictionary"],
  ["forgets to return", () => undefined, "map must return the document, or null to leave it out"],
  ["makes a text of none", (document) => ({ ...document, text: 7 }), "has no text"],
  ["puts on what is no JSON", (document) => ({ ...document, metadata: { by: new Map() } }), "metadata.by must be"],
])("where map %s, that document fails, its stored version stays, and the others go on", async (_, spoil, reason) => {
  const { kb, docs } = await twoNotes();
  await kb.ingest(readFolder(docs));
  await writeFile(join(docs, "badgers.md"), "Badgers sleep.");
  const map = (document: Document) => (document.uri.includes("voles") ? spoil(document) : document) as Document;
  const { documents, failures } = await kb.ingest(readFolder(docs), { map });
  expect(documents).toEqual({ added: 1, updated: 0, unchanged: 1, deleted: 0, failed: 1 });
  expect(failures).toMatchObject([
    { uri: expect.stringContaining("voles.md"), error: { message: expect.stringContaining(reason) } },
  ]);
  expect(await kb.documents()).toHaveLength(3);
});

test("map may give a document another uri, under which it is known and vanishes", async () => {
  const { kb, docs } = await twoNotes();
  const map = (document: Document) => ({ ...document, uri: `https://docs.example/${document.title}` });
  expect((await kb.ingest(readFolder(docs), { map })).documents).toMatchObject({ added: 2 });
  expect((await kb.ingest(readFolder(docs), { map })).documents).toMatchObject({ unchanged: 2, deleted: 0 });
  await rm(join(docs, "voles.md"));
  expect((await kb.ingest(readFolder(docs), { map })).documents).toMatchObject({ unchanged: 1, deleted: 1 });
});

test("an abort while map works ends the run with the caller's reason", async () => {
  const { kb, docs } = await twoNotes();
  const caller = new AbortController();
  const map = async (document: Document, { signal }: { readonly signal: AbortSignal }) => {
    caller.abort(new Error("enough"));
    await sleep(10_000, undefined, { signal });
    return document;
  };
  await expect(kb.ingest(readFolder(docs), { map, signal: caller.signal })).rejects.toThrow("enough");
});
