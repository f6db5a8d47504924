import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/core/ports.js";
import { openStore } from "../../../src/store/open-store.js";
import { readChecksummed, withChecksum } from "../../../src/store/database/checksummed-json.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 16;
const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) =>
    madeDocument(`d${from + index}`, [`apple number${from + index}`, `pear number${from + index}`]),
  );

async function opened(path: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(path, { space: "made" }, { index: "hnsw", ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A closed store of 60 documents, 20 of them deleted again. */
async function closedStore(): Promise<string> {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path);
  await store.write(withVectors(documents(0, 60), dimension));
  await store.deleteDocuments(Array.from({ length: 20 }, (_, index) => `d${index}`));
  await store.close();
  return path;
}

/** The complete results of searches. */
async function answers(store: Store): Promise<{ chunkId: string; score: number }[][]> {
  const found = await Promise.all([
    store.dense.retrieve({ text: "", vector: madeVector("a question", dimension) }, { count: 200 }),
    store.lexical.retrieve({ text: "apple number42" }, { count: 200 }),
  ]);
  return found.map((one) => one.map(({ chunkId, score }) => ({ chunkId, score })));
}

async function exactAnswers(path: string): Promise<unknown> {
  const copy = join(temporaryFolder(), "copy");
  cpSync(path, copy, { recursive: true });
  for (const file of derivedFiles(copy)) rmSync(join(copy, file));
  const found = await answers(await opened(copy, { index: "flat" }));
  return found.map((one) => one.map(({ chunkId, score }) => ({ chunkId, score: expect.closeTo(score, 5) as number })));
}

const derivedFiles = (path: string) => readdirSync(path).filter((file) => /\.(bin|json)$/.test(file));
const fileOf = (path: string, name: string) =>
  join(
    path,
    derivedFiles(path).find((file) => file.startsWith(`${name}-`))!,
  );

test("saved indexes are loaded completely and without a warning", async () => {
  const path = await closedStore();
  const expected = await exactAnswers(path);
  const before = derivedFiles(path).toSorted();
  const warnings: string[] = [];
  const store = await opened(path, { onWarning: (message) => warnings.push(message) });
  expect(await answers(store)).toEqual(expected);
  await store.close();
  expect(warnings).toEqual([]);
  expect(derivedFiles(path).toSorted()).toEqual(before);
});

const elsewhere = { file: "../../outside.bin", sizeBytes: 1, sha256: "" };
const fileElsewhere = { graph: elsewhere, lexical: { files: [elsewhere] } };

for (const name of ["graph", "lexical"] as const) {
  const damages: readonly (readonly [string, (path: string) => void, boolean])[] = [
    ["with one bit changed", (path) => flipBit(fileOf(path, name)), true],
    ["cut short", (path) => truncateSync(fileOf(path, name), 300), true],
    ["emptied", (path) => truncateSync(fileOf(path, name), 0), true],
    ["that is missing", (path) => rmSync(fileOf(path, name)), true],
    ["whose manifest is not JSON", (path) => writeFileSync(join(path, `${name}.json`), "{"), true],
    ["whose manifest has another digit in its numbers", (path) => changeDigit(join(path, `${name}.json`)), true],
    ["whose manifest names a file elsewhere", (path) => edit(path, name, fileElsewhere[name]), true],
    ["whose manifest is missing", (path) => rmSync(join(path, `${name}.json`)), false],
    ["of another store", (path) => edit(path, name, { store: "another" }), false],
    ["that is ahead of the store", (path) => edit(path, name, { position: { label: 1e6, removal: 1e6 } }), false],
  ];
  for (const [how, damage, warned] of damages) {
    test(`a ${name} file ${how} is built again from the store`, async () => {
      const path = await closedStore();
      const expected = await exactAnswers(path);
      damage(path);
      const warnings: string[] = [];
      const store = await opened(path, { onWarning: (message) => warnings.push(message) });
      expect(await answers(store)).toEqual(expected);
      await store.close();
      expect(warnings).toHaveLength(warned ? 1 : 0);
      const again = await opened(path, { onWarning: (message) => warnings.push(message) });
      expect(await answers(again)).toEqual(expected);
      expect(warnings).toHaveLength(warned ? 1 : 0);
      expect(derivedFiles(path)).toHaveLength(4);
    });
  }
}

test("an index that was saved earlier catches up with later writes and deletions", async () => {
  const path = await closedStore();
  const saved = join(temporaryFolder(), "saved");
  cpSync(path, saved, { recursive: true });
  const store = await opened(path);
  await store.write(withVectors(documents(60, 70), dimension));
  await store.deleteDocuments(["d30", "d65"]);
  await store.close();
  const expected = await exactAnswers(path);
  for (const file of derivedFiles(path)) rmSync(join(path, file));
  for (const file of derivedFiles(saved)) cpSync(join(saved, file), join(path, file));
  expect(await answers(await opened(path))).toEqual(expected);
});

test("indexes that cannot be read are built again, and nothing is missing from searches", async () => {
  const path = await closedStore();
  const expected = await exactAnswers(path);
  for (const name of ["graph.json", "lexical.json"]) {
    rmSync(join(path, name));
    mkdirSync(join(path, name));
  }
  const warnings: string[] = [];
  const store = await opened(path, { onWarning: (message) => warnings.push(message) });
  expect(await answers(store)).toEqual(expected);
  expect(warnings.toSorted()).toEqual([
    expect.stringMatching(/graph.*cannot be read.*built again/),
    expect.stringMatching(/lexical.*cannot be read.*built again/),
  ]);
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true });
  await store.close();
  expect(warnings).toHaveLength(2);
});

test("indexes that are ahead of a restored database are deleted before it is written again", async () => {
  const path = await closedStore();
  const database = readFileSync(join(path, "store.sqlite"));
  const store = await opened(path);
  await store.write(withVectors(documents(100, 110), dimension));
  await store.close();

  writeFileSync(join(path, "store.sqlite"), database);
  const writing = await opened(path);
  // The store gives labels that the indexes know to other chunks, and grows past them.
  await writing.write(withVectors(documents(200, 230), dimension));
  // The files as a crash would leave them now.
  const killed = join(temporaryFolder(), "store");
  cpSync(path, killed, { recursive: true });
  const expected = await exactAnswers(killed);
  expect(await answers(await opened(killed))).toEqual(expected);
});

test("an old file that cannot be deleted does not cost the index that was just saved", async () => {
  const path = join(temporaryFolder(), "store");
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const store = await opened(path, { onWarning });
  await store.write(withVectors(documents(0, 60), dimension));
  // A folder: deleting it as a file fails, as deleting a file that is open may on Windows.
  for (const name of ["graph", "lexical"]) mkdirSync(join(path, `${name}-kept.bin`));
  await store.close();
  const again = await opened(path, { onWarning });
  expect((await answers(again)).map(({ length }) => length)).toEqual([120, 61]);
  expect(warnings).toEqual([]);
});

test("a graph keeps its parameters, and is built again when others are chosen", async () => {
  const path = join(temporaryFolder(), "store");
  const first = await opened(path, { m: 8, efConstruction: 50, ef: 70 });
  await first.write(withVectors(documents(0, 30), dimension));
  await first.close();
  const manifest = () => JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as Record<string, unknown>;
  expect(manifest()).toMatchObject({ m: 8, efConstruction: 50, ef: 70 });
  const second = await opened(path);
  await second.write(withVectors(documents(30, 31), dimension));
  await second.close();
  expect(manifest()).toMatchObject({ m: 8, efConstruction: 50, ef: 70, count: 62 });
  const third = await opened(path, { m: 24 });
  await third.close();
  expect(manifest()).toMatchObject({ m: 24, efConstruction: 50, ef: 70, count: 62 });
});

test("a new graph links each vector among 64 candidates, where no other number is chosen", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path);
  await store.write(withVectors(documents(0, 30), dimension));
  await store.close();
  expect(JSON.parse(readFileSync(join(path, "graph.json"), "utf8"))).toMatchObject({ m: 16, efConstruction: 64 });
});

test("indexes that hold mostly deleted chunks are rebuilt without them, while they are searched", async () => {
  const path = join(temporaryFolder(), "store");
  const before = await opened(path);
  await before.write(withVectors(documents(0, 800), dimension));
  await before.close();
  const warnings: string[] = [];
  const store = await opened(path, { onWarning: (message) => warnings.push(message) });
  await store.deleteDocuments(Array.from({ length: 600 }, (_, index) => `d${index}`));
  const found = await Promise.all(Array.from({ length: 10 }, () => answers(store)));
  for (const one of found) expect(one.map((hits) => hits.length)).toEqual([200, 200]);
  await store.write(withVectors(documents(800, 810), dimension));
  const expected = await exactAnswers(path);
  await store.close();
  expect(warnings).toEqual([]);
  expect(JSON.parse(readFileSync(join(path, "graph.json"), "utf8"))).toMatchObject({ count: 420, deleted: 0 });
  expect(await answers(await opened(path, { ef: 1000 }))).toEqual(expected);
});

test("a store whose folder was deleted while it was open still closes, and warns that its indexes were not saved", async () => {
  const path = join(temporaryFolder(), "store");
  const warnings: string[] = [];
  const store = await opened(path, { onWarning: (message) => warnings.push(message) });
  await store.write(withVectors(documents(0, 5), dimension));
  await answers(store);
  rmSync(path, { recursive: true });
  await store.close();
  expect(existsSync(path)).toBe(false);
  expect(warnings).toEqual([expect.stringContaining("could not be saved")]);
});

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at]! ^= 4;
  writeFileSync(path, bytes);
}

function edit(path: string, name: string, change: object): void {
  const manifest = join(path, `${name}.json`);
  writeFileSync(manifest, withChecksum({ ...readChecksummed(readFileSync(manifest, "utf8")), ...change }));
}

/** Changes the position, so that the index would seem to hold other chunks than it does. */
function changeDigit(manifest: string): void {
  const text = readFileSync(manifest, "utf8");
  const changed = text.replace(/("label": \d*)(\d)/, (_, before: string, last: string) => before + (9 - Number(last)));
  expect(changed).not.toBe(text);
  writeFileSync(manifest, changed);
}
