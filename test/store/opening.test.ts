import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import type { Store } from "../../src/core/ports.js";
import { openEmbeddedStore, type StoreInternals } from "../../src/store/open-embedded-store.js";
import { openStore } from "../../src/store/open-store.js";
import { prepareFolder, removeIfUnused } from "../../src/store/database/store-folder.js";
import type { StoreOptions } from "../../src/store/store-options.js";
import { WriteLock } from "../../src/store/database/write-lock.js";
import { madeDocument, madeVector, withVectors } from "../../src/conformance/made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";
import { runNode } from "../support/run-process.js";
import { SQLite } from "../support/sqlite.js";

const made = { space: "made", dimension: 8 };
const one = madeDocument("one", ["alpha beta", "gamma"]);

async function opened(path: string, options: StoreOptions = {}, internals: StoreInternals = {}): Promise<Store> {
  const store = await openEmbeddedStore(path, made, options, internals);
  onTestFinished(() => store.close());
  return store;
}

async function writtenStore(): Promise<string> {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path);
  await store.write(withVectors([one], 8));
  await store.close();
  return path;
}

test("a store carries the vector space of its embedder as a type", async () => {
  const store = await openStore(join(temporaryFolder(), "store"), { space: "model-a" });
  onTestFinished(() => store.close());
  expectTypeOf(store).toEqualTypeOf<Store<"model-a">>();
  // @ts-expect-error vectors of two models cannot be compared
  const other: Store<"model-b"> = store;
  expect(other.space).toBe("model-a");
});

test("with create: false, a store that does not exist is an error that names the command to create one, and nothing is created", async () => {
  const path = join(temporaryFolder(), "store");
  await expect(openStore(path, made, { create: false })).rejects.toMatchObject({
    code: "missing",
    message: expect.stringContaining("citewell index <folder>"),
  });
  expect(existsSync(path)).toBe(false);
});

test("a store that was never written to is deleted by close, with the folders created for it", async () => {
  const folder = temporaryFolder();
  const store = await opened(join(folder, "deep", "er"));
  expect(await store.counts()).toEqual({ documents: 0, chunks: 0, vectors: 0 });
  await store.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("a new store that another process has filled since is not deleted", async () => {
  const path = join(temporaryFolder(), "store");
  const found = prepareFolder(path);
  expect(found.isNew).toBe(true);
  const other = await opened(path);
  await other.write(withVectors([one], 8));
  removeIfUnused(found);
  await other.close();
  removeIfUnused(found);
  expect(await (await opened(path)).counts()).toEqual({ documents: 1, chunks: 2, vectors: 2 });
});

test("writing to a store that another process has deleted as unused says to open it again", async () => {
  const path = join(temporaryFolder(), "store");
  const [first, second] = [await opened(path), await opened(path)];
  await first.close();
  expect(existsSync(path)).toBe(false);
  await expect(second.write(withVectors([one], 8))).rejects.toMatchObject({
    code: "closed",
    message: expect.stringContaining("open it again"),
  });
  await second.close();
  const third = await opened(path);
  expect(await third.write(withVectors([one], 8))).toHaveLength(1);
});

test("a store whose file was overwritten while it was open still closes, and gives back the right to write", async () => {
  const path = await writtenStore();
  const warnings: string[] = [];
  const store = await opened(path, { onWarning: (message) => warnings.push(message) });
  await store.deleteDocuments(["none"]);
  const lock = new WriteLock(path);
  expect(lock.tryTake()).toBe(false);
  for (const name of readdirSync(path)) {
    if (/sqlite/.test(name)) writeFileSync(join(path, name), Buffer.alloc(100_000, 7));
  }
  await store.close();
  expect(warnings).toEqual([expect.stringContaining("could not be saved")]);
  expect(lock.tryTake()).toBe(true);
  lock.release();
});

test("closing leaves other files in the folder alone", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "notes.txt"), "mine");
  await (await opened(folder)).close();
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
});

test("a failed first write leaves nothing after close", async () => {
  const folder = temporaryFolder();
  const store = await opened(join(folder, "store"));
  await expect(store.write({ documents: [one] })).rejects.toMatchObject({ code: "vector" });
  await store.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("another model or dimension is refused, with both names and a way out", async () => {
  const path = await writtenStore();
  await expect(openStore(path, { space: "other", dimension: 8 })).rejects.toMatchObject({
    code: "space",
    message: expect.stringMatching(/vectors of made.*vectors of other.*index again/),
  });
  await expect(openStore(path, { space: "made", dimension: 9 })).rejects.toMatchObject({
    code: "dimension",
    message: expect.stringMatching(/\b8\b.*\b9\b/),
  });
  expect((await (await opened(path)).counts()).documents).toBe(1);
});

test("a store of a later version is refused and left unchanged", async () => {
  const path = await writtenStore();
  const database = new SQLite(join(path, "store.sqlite"));
  database.pragma("user_version = 99");
  database.close();
  await expect(openStore(path, made)).rejects.toMatchObject({
    code: "version",
    message: expect.stringContaining("99"),
  });
});

test("a file that is not a database, and a database that is not a store, are refused and left unchanged", async () => {
  const folder = temporaryFolder();
  const [garbage, foreign] = [join(folder, "garbage"), join(folder, "foreign")];
  mkdirSync(garbage);
  mkdirSync(foreign);
  writeFileSync(join(garbage, "store.sqlite"), "these are not the bytes of a database ".repeat(200));
  await expect(openStore(garbage, made)).rejects.toMatchObject({ code: "damaged" });
  const database = new SQLite(join(foreign, "store.sqlite"));
  database.exec("CREATE TABLE theirs (x)");
  database.close();
  await expect(openStore(foreign, made)).rejects.toMatchObject({ code: "damaged" });
  expect(existsSync(join(garbage, "store.sqlite"))).toBe(true);
});

test("unknown and invalid options are refused before anything is created", async () => {
  const path = join(temporaryFolder(), "store");
  await expect(openStore(path, made, { ef: 0 })).rejects.toMatchObject({ code: "options" });
  await expect(openStore(path, made, { hnsw: true } as StoreOptions)).rejects.toMatchObject({ code: "options" });
  expect(existsSync(path)).toBe(false);
});

test("while one handle writes, another can read, sees each commit, and learns who writes when it tries to", async () => {
  const path = join(temporaryFolder(), "store");
  const [writer, reader] = [await opened(path), await opened(path)];
  await writer.write(withVectors([one], 8));
  expect((await reader.lexical.retrieve({ text: "alpha" }, { count: 5 })).length).toBe(1);
  await writer.write(withVectors([madeDocument("two", ["alpha delta"])], 8));
  expect((await reader.lexical.retrieve({ text: "alpha" }, { count: 5 })).length).toBe(2);
  expect((await reader.dense.retrieve({ text: "", vector: madeVector("x", 8) }, { count: 9 })).length).toBe(3);
  const letGo = await writer.claim!();
  await expect(reader.write(withVectors([one], 8))).rejects.toMatchObject({
    code: "locked",
    message: expect.stringContaining("This process is writing to this store already"),
  });
  await letGo();
  await writer.close();
  expect(await reader.write(withVectors([one], 8))).toEqual([expect.objectContaining({ outcome: "unchanged" })]);
});

test("without the native library the store searches exactly, and warns once", async () => {
  const warnings: string[] = [];
  const options: StoreOptions = {
    index: "hnsw",
    quantization: "none",
    onWarning: (message) => warnings.push(message),
  };
  const store = await opened(join(temporaryFolder(), "store"), options, { graphModule: "citewell-no-such-module" });
  await store.write(withVectors([one], 8));
  for (let search = 0; search < 3; search++) {
    expect(await store.dense.retrieve({ text: "", vector: madeVector("x", 8) }, { count: 5 })).toHaveLength(2);
  }
  await store.close();
  expect(warnings).toEqual([
    expect.stringMatching(/^hnswlib-node cannot be loaded .*citewell-no-such-module.*one by one.*$/),
  ]);
});

test("without WebAssembly the store searches exactly, and warns once, when it opens its graph", async () => {
  const folder = temporaryFolder();
  const built = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);
  const program = join(folder, "program.mjs");
  writeFileSync(
    program,
    `
    import { madeDocument, madeVector, withVectors } from ${built("conformance/made-documents.js")};
    import { openStore } from ${built("store/open-store.js")};
    const warnings = [];
    const onWarning = (message) => warnings.push(message);
    const store = await openStore(${JSON.stringify(join(folder, "store"))}, { space: "s" }, { index: "hnsw", onWarning });
    await store.write(withVectors([madeDocument("a", ["one", "two"])], 8));
    let found = [];
    for (let search = 0; search < 3; search++) {
      found = await store.dense.retrieve({ text: "", vector: madeVector("x", 8) }, { count: 5 });
    }
    await store.close();
    console.log(JSON.stringify({ found: found.length, warnings }));`,
  );
  const { stdout } = await runNode("--jitless", [program]);
  expect(JSON.parse(stdout)).toEqual({
    found: 2,
    warnings: [
      expect.stringMatching(/^The graph of 4-bit vectors cannot be used here \(WebAssembly is missing\): .*one by one/),
    ],
  });
});

test("a store that outgrows the flat index switches to the graph", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path, { flatBelow: 50 });
  const documents = Array.from({ length: 120 }, (_, index) => madeDocument(`d${index}`, [`text ${index}`]));
  for (const document of documents) await store.write(withVectors([document], 8));
  const query = { text: "", vector: madeVector("x", 8) };
  const found = await store.dense.retrieve(query, { count: 120 });
  expect(new Set(found.map(({ chunkId }) => chunkId)).size).toBe(120);
  await store.close();
  expect(readdirSync(path).filter((file) => file.startsWith("graph"))).toHaveLength(2);
  const flat = await opened(path, { index: "flat" });
  expect((await flat.dense.retrieve(query, { count: 10 })).map(({ chunkId }) => chunkId)).toEqual(
    found.slice(0, 10).map(({ chunkId }) => chunkId),
  );
});

test.each(["cut to nothing", "deleted"])(
  "a store whose database was %s is refused, with the way back, and its indexes stay",
  async (how) => {
    const path = await writtenStore();
    const database = join(path, "store.sqlite");
    for (const file of [`${database}-wal`, `${database}-shm`]) rmSync(file, { force: true });
    if (how === "deleted") rmSync(database);
    else writeFileSync(database, "");
    const indexes = () => readdirSync(path).filter((name) => name.startsWith("lexical"));
    const before = indexes();
    await expect(openStore(path, made)).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringMatching(
        /is empty, .* up to 2 chunks\. Restore the file from a backup, or delete the folder/,
      ),
    });
    expect(indexes()).toEqual(before);
  },
);
