import { rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Document,
  ingest,
  openStore,
  readFolder,
  type ReadFolderOptions,
  type RunEvent,
} from "../../../src/index.js";
import { Pipeline } from "../../../src/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { wordEmbedder } from "../../support/word-embedder.js";
import { SQLite } from "../../support/sqlite.js";

const longAgo = new Date("2020-01-01T00:00:00Z");

/** A folder of files and a store that it was read into once. */
async function indexed(files: Readonly<Record<string, string>>, modified: Date = longAgo) {
  const folder = await temporaryFolder(files);
  const at = (name: string) => join(folder, name);
  const write = async (name: string, text: string, time = modified) => {
    await writeFile(at(name), text);
    await utimes(at(name), time, time);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const embedder = wordEmbedder();
  const store = await openStore(join(await temporaryFolder(), "store"), embedder);
  onTestFinished(() => store.close());
  const run = (options: Partial<Parameters<typeof ingest<"words">>[1]> = {}, reading?: ReadFolderOptions) =>
    ingest(readFolder(folder, reading), { store, embedder, ...options });
  const first = await run();
  const uri = (name: string) => pathToFileURL(at(name)).href;
  return {
    at,
    write,
    run,
    store,
    embedder,
    first,
    uri,
    text: async (name: string) => (await store.document(uri(name)))?.text,
  };
}

describe("a file whose size and time have not changed", () => {
  test("is not read again, unless that is asked for", async () => {
    const { write, run, text } = await indexed({ "a.md": "A mole digs.", "b.md": "A vole digs." });
    await write("a.md", "A hare digs.");
    const second = await run();
    expect(second.documents).toEqual({ added: 0, updated: 0, unchanged: 2, deleted: 0, failed: 0 });
    expect(second.chunks).toEqual({ total: 2, embedded: 0, reused: 2, deleted: 0 });
    expect(await text("a.md")).toBe("A mole digs.");
    expect((await run({ reread: true })).documents).toMatchObject({ updated: 1, unchanged: 1 });
    expect(await text("a.md")).toBe("A hare digs.");
    expect((await run()).documents).toMatchObject({ unchanged: 2 });
  });

  test.each([
    ["was so recent that it may have changed twice at that time", new Date()],
    ["lies in the future", new Date(Date.now() + 3_600_000)],
  ])("is read all the same if that time %s", async (_, time) => {
    const { write, run, text } = await indexed({ "a.md": "A mole digs." }, time);
    await write("a.md", "A hare digs.", time);
    expect((await run()).documents).toMatchObject({ updated: 1 });
    expect(await text("a.md")).toBe("A hare digs.");
  });

  test("is read again when its document was taken out of the store, or lost a chunk to a repair", async () => {
    const { run, store, uri } = await indexed({ "a.md": "A mole digs." });
    await store.deleteDocuments([uri("a.md")]);
    expect((await run()).documents).toMatchObject({ added: 1 });
    expect((await run()).documents).toMatchObject({ unchanged: 1 });
    const database = new SQLite(join(store.location, "store.sqlite"));
    database.exec("UPDATE texts SET text = 'A hare digs.'");
    database.close();
    expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true });
    expect((await run()).documents).toMatchObject({ updated: 1 });
    expect((await store.counts()).chunks).toBe(1);
  });

  test("is read again when what the store remembers of it was altered", async () => {
    const { write, run, store, text } = await indexed({ "a.md": "A mole digs." });
    await write("a.md", "A hare digs.");
    const database = new SQLite(join(store.location, "store.sqlite"));
    database.exec("UPDATE notes SET note = replace(note, '{', '{ ')");
    database.close();
    expect((await run()).documents).toMatchObject({ updated: 1 });
    expect(await text("a.md")).toBe("A hare digs.");
  });

  test("is read again when a pipeline of one's own has cut its document in another way", async () => {
    const { run, store, uri } = await indexed({ "a.md": "A mole digs." });
    const own: Document = { uri: uri("a.md"), text: " " };
    await ingest([own], { store, pipeline: Pipeline.from<Document>() });
    expect((await run()).documents).toMatchObject({ updated: 1 });
  });

  test("is read again for other chunks, with a loader of one's own, and for a stage of one's own", async () => {
    const { run, text } = await indexed({ "a.md": "A mole digs. ".repeat(40) });
    expect((await run({ chunk: { maxTokens: 16 } })).documents).toMatchObject({ updated: 1 });
    expect((await run()).documents).toMatchObject({ unchanged: 1 });
    const loaders = { ".md": () => ({ text: "by a loader" }) };
    expect((await run({}, { loaders })).documents).toMatchObject({ updated: 1 });
    expect(await text("a.md")).toBe("by a loader");
    expect((await run()).documents).toMatchObject({ updated: 1 });
    const documents = Pipeline.from<Document>().pipe({
      name: "shout",
      run: async function* (source: AsyncIterable<Document>) {
        for await (const document of source) yield { ...document, text: document.text.toUpperCase() };
      },
    });
    expect((await run({ documents })).documents).toMatchObject({ updated: 1 });
    expect(await text("a.md")).toMatch(/^A MOLE/);
  });
});

test("a file that was only touched is not cut again, and its new time is remembered", async () => {
  const { at, write, run, embedder, text } = await indexed({ "a.md": "A mole digs." });
  await utimes(at("a.md"), new Date("2021-01-01T00:00:00Z"), new Date("2021-01-01T00:00:00Z"));
  const counted = embedder.tokens.count;
  // Every stage tries a counter once on a single word; a chunk would be counted as NaN.
  const count = (given: string) => (given === "word" ? 1 : Number.NaN);
  const uncounted = { ...embedder, tokens: { ...embedder.tokens, count } };
  expect(counted("one")).toBe(1);
  expect((await run({ embedder: uncounted })).documents).toMatchObject({ unchanged: 1 });
  await write("a.md", "A hare digs.", new Date("2021-01-01T00:00:00Z"));
  expect((await run()).documents).toMatchObject({ unchanged: 1 });
  expect(await text("a.md")).toBe("A mole digs.");
});

test("a store that requires a scope is kept up to date without one", async () => {
  const folder = await temporaryFolder({ "a.md": "A mole digs." });
  const embedder = wordEmbedder();
  const store = await openStore(join(await temporaryFolder(), "store"), embedder, { requireScope: true });
  onTestFinished(() => store.close());
  const run = () => ingest(readFolder(folder), { store, embedder, reread: true });
  expect((await run()).documents).toMatchObject({ added: 1 });
  expect((await run()).documents).toMatchObject({ unchanged: 1 });
  await rm(join(folder, "a.md"));
  await writeFile(join(folder, "b.md"), "A vole digs.");
  expect((await run()).documents).toMatchObject({ added: 1, deleted: 1 });
});

test("documents that are handed over are not cut again while their text and the settings stay", async () => {
  const store = await openStore(join(await temporaryFolder(), "store"), wordEmbedder());
  onTestFinished(() => store.close());
  let counts = 0;
  const embedder = wordEmbedder();
  const counting = {
    ...embedder,
    tokens: { name: "words", count: (text: string) => (counts++, embedder.tokens.count(text)) },
  };
  const documents = [
    { uri: "a", text: "A mole digs." },
    { uri: "b", text: "A vole digs.", metadata: { year: 2024 } },
  ];
  await ingest(documents, { store, embedder: counting });
  expect(counts).toBeGreaterThan(0);
  counts = 0;
  const again = await ingest(documents, { store, embedder: counting });
  expect(again.documents).toMatchObject({ unchanged: 2 });
  expect(again.chunks).toMatchObject({ total: 2, reused: 2 });
  expect(counts).toBe(0);
  const changed = documents.map((document) => ({ ...document, metadata: { year: 2025 } }));
  expect((await ingest(changed, { store, embedder: counting })).documents).toMatchObject({ updated: 2 });
});

test("files that vanished, were renamed or came twice end as they do when every file is read", async () => {
  const { at, run, embedder } = await indexed({
    "a.md": "# Mole\n\nIt digs.",
    "b.md": "# Vole\n\nIt digs.",
    "c.md": "# Hare\n\nIt runs.",
  });
  await rm(at("a.md"));
  await rename(at("b.md"), at("d.md"));
  const { documents, chunks } = await run();
  expect(documents).toEqual({ added: 1, updated: 0, unchanged: 1, deleted: 2, failed: 0 });
  expect(chunks).toMatchObject({ total: 2, embedded: 0 });
  expect(embedder.calls.flat()).toHaveLength(3);
});

describe("a file that could not be read", () => {
  const pdf = "%PDF-1.7 and nothing else";

  test("fails again without being read while it has not changed, and the report says so", async () => {
    const { at, write, run, first } = await indexed({ "a.md": "A mole digs.", "b.pdf": pdf });
    expect(first.failures).toHaveLength(1);
    expect(first).not.toHaveProperty("notRetried");
    const opened: string[] = [];
    const again = await run({ report: (event) => void (event.type === "reading" && opened.push(event.uri)) });
    expect(opened).toEqual([]);
    expect(again.documents).toEqual({ added: 0, updated: 0, unchanged: 1, deleted: 0, failed: 1 });
    expect(again.notRetried).toBe(1);
    expect(again.failures.map(({ error }) => error.message)).toEqual(first.failures.map(({ error }) => error.message));
    expect(await run({ retryFailed: true })).not.toHaveProperty("notRetried");
    await write("b.pdf", `${pdf}.`);
    expect(await run()).not.toHaveProperty("notRetried");
    await rm(at("b.pdf"));
    expect((await run()).documents).toMatchObject({ failed: 0, unchanged: 1 });
  });

  test("is read again with more time", async () => {
    const { run } = await indexed({ "a.md": "A mole digs.", "b.pdf": pdf });
    expect(await run({}, { timeoutMs: 20_000 })).not.toHaveProperty("notRetried");
  });
});

test("an unchanged run changes nothing, so that it needs no right to write", async () => {
  const { run, store } = await indexed({ "a.md": "A mole digs." });
  const events: RunEvent[] = [];
  const readOnly = {
    ...Object.fromEntries(
      ["space", "dimension", "dense", "lexical", "location"].map((name) => [name, Reflect.get(store, name)]),
    ),
    scoped: () => store,
    notes: (uris: readonly string[]) => store.notes!(uris),
    knownVectors: (keys: readonly string[]) => store.knownVectors(keys),
    write: () => Promise.reject(new Error("written")),
    deleteDocuments: () => Promise.reject(new Error("deleted")),
  } as unknown as typeof store;
  expect((await run({ store: readOnly, report: (event) => events.push(event) })).documents).toMatchObject({
    unchanged: 1,
  });
  expect(events).toContainEqual(expect.objectContaining({ outcome: "unchanged", chunks: 1 }));
});
