// In test:all alone: it compares with a slow oracle over damaged files, for 12 s.
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import type { DocumentWrite, Store, StoreWrite } from "../../../src/core/ports.js";
import { readChecksummed, withChecksum } from "../../../src/store/database/checksummed-json.js";
import { diskUse } from "../../../src/store/disk-use.js";
import { openStore } from "../../../src/store/open-store.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import { seededRandom } from "../../support/seeded-random.js";
import { SQLite } from "../../support/sqlite.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 96;

/** Vectors of which a fifth is not zero, with a few values each, and one that is too short to compare as it is. */
function withSparseVectors(documents: readonly DocumentWrite[]): StoreWrite {
  const { vectors, ...rest } = withVectors(documents, dimension);
  const sparse = new Map(
    [...vectors!].map(([key, vector], at) => {
      const scale = key.endsWith("7") ? 1e-20 : 1 + at / 100;
      return [key, vector.map((value) => (Math.abs(value) > 1.3 ? scale * Math.round(4 * value) : 0))] as const;
    }),
  );
  for (const vector of sparse.values()) vector[0] ||= 1e-20;
  return { ...rest, vectors: sparse };
}

const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => madeDocument(`d${from + index}`, [`apple number${from + index}`]));

async function opened(path: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(path, { space: "made" }, options);
  onTestFinished(() => store.close());
  return store;
}

/** A closed store of 700 documents, 50 of them deleted again. */
async function closedStore(options: StoreOptions = {}): Promise<string> {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path, options);
  await store.write(withSparseVectors(documents(0, 700)));
  await store.deleteDocuments(Array.from({ length: 50 }, (_, index) => `d${3 * index}`));
  await store.close();
  return path;
}

/** All chunks in order with their scores, for a sparse query, a dense one, and one within a filter. */
async function answers(store: Store): Promise<unknown> {
  const next = seededRandom(9);
  const dense = Float32Array.from({ length: dimension }, () => next() - 0.5);
  const sparse = dense.map((value, at) => (at % 9 === 0 ? value : 0));
  const uris = Array.from({ length: 700 }, (_, at) => `d${at}`).filter((_, at) => at % 5 === 0);
  const few = { uri: { in: uris } };
  return Promise.all([
    store.dense.retrieve({ text: "", vector: sparse }, { count: 1000 }),
    store.dense.retrieve({ text: "", vector: dense }, { count: 1000 }),
    store.dense.retrieve({ text: "", vector: sparse }, { count: 7 }),
    store.dense.retrieve({ text: "", vector: sparse }, { count: 20, filter: few }),
  ]);
}

/** The same by comparing rows that are read from the database. */
async function slowAnswers(path: string): Promise<unknown> {
  const copy = join(temporaryFolder(), "copy");
  cpSync(path, copy, { recursive: true });
  for (const file of readdirSync(copy).filter((name) => name.startsWith("flat"))) rmSync(join(copy, file));
  return answers(await opened(copy));
}

const filesOf = (path: string) =>
  readdirSync(path).map((file) => [file, statSync(join(path, file)).mtimeMs, readFileSync(join(path, file)).length]);
const flatFile = (path: string) =>
  join(
    path,
    readdirSync(path).find((file) => file.startsWith("flat-"))!,
  );
const manifestOf = (path: string) =>
  readChecksummed(readFileSync(join(path, "flat.json"), "utf8")) as { position: { label: number }; rows: number };
const edit = (path: string, change: object) =>
  writeFileSync(join(path, "flat.json"), withChecksum({ ...manifestOf(path), ...change }));

test("a search of saved vectors has the order and the scores of one of the rows, to the last bit", async () => {
  const path = await closedStore();
  expect(manifestOf(path).rows).toBe(650);
  const warnings: string[] = [];
  const expected = await slowAnswers(path);
  expect(await answers(await opened(path, { onWarning: (message) => warnings.push(message) }))).toEqual(expected);
  expect(warnings).toEqual([]);
  expect(diskUse(path).indexes).toBeGreaterThan(statSync(flatFile(path)).size);
});

test("a search reads the saved vectors, and none from the database", async () => {
  const path = await closedStore();
  const expected = await slowAnswers(path);
  const database = new SQLite(join(path, "store.sqlite"));
  database.exec("UPDATE vectors SET data = zeroblob(4)");
  database.close();
  expect(await answers(await opened(path))).toEqual(expected);
});

test("a command that only searches writes nothing, also where later changes are not in the file", async () => {
  const path = await closedStore();
  const writing = await opened(path);
  await writing.write(withSparseVectors(documents(700, 710)));
  await writing.close();
  const before = filesOf(path);
  const store = await opened(path);
  await answers(store);
  await store.lexical.retrieve({ text: "apple" }, { count: 3 });
  await store.close();
  expect(filesOf(path)).toEqual(before);
});

test("saved vectors catch up with later writes and deletions, and are saved again when these are many", async () => {
  const path = await closedStore();
  const store = await opened(path);
  await store.write(withSparseVectors(documents(700, 720)));
  await store.deleteDocuments(["d1", "d2", "d701"]);
  const expected = await slowAnswers(path);
  expect(await answers(store)).toEqual(expected);
  await store.close();
  expect(manifestOf(path).position.label).toBe(700);
  expect(await answers(await opened(path))).toEqual(expected);

  const more = await opened(path);
  await more.write(withSparseVectors(documents(720, 1100)));
  await more.close();
  expect(manifestOf(path)).toMatchObject({ position: { label: 1100, removal: 53 }, rows: 1047 });
  expect(await answers(await opened(path))).toEqual(await slowAnswers(path));
});

test("what a search has read of a store without the file it saves", async () => {
  const path = await closedStore();
  for (const file of readdirSync(path).filter((name) => name.startsWith("flat"))) rmSync(join(path, file));
  const store = await opened(path);
  const expected = await answers(store);
  await store.close();
  expect(manifestOf(path).rows).toBe(650);
  expect(await answers(await opened(path))).toEqual(expected);
});

const damages: readonly (readonly [string, (path: string) => void, boolean])[] = [
  ["with one bit changed", (path) => flipBit(flatFile(path)), true],
  ["cut short", (path) => truncateSync(flatFile(path), 3000), true],
  ["that is missing", (path) => rmSync(flatFile(path)), true],
  ["whose manifest is not JSON", (path) => writeFileSync(join(path, "flat.json"), "{"), true],
  ["whose manifest names a file elsewhere", (path) => edit(path, { file: "../../outside.bin" }), true],
  ["of another format", (path) => edit(path, { format: 2 }), true],
  ["with more rows than bytes", (path) => edit(path, { rows: 651 }), true],
  ["whose manifest is missing", (path) => rmSync(join(path, "flat.json")), false],
  ["of another store", (path) => edit(path, { store: "another" }), false],
  ["that is ahead of the store", (path) => edit(path, { position: { label: 1e6, removal: 1e6 } }), false],
];
for (const [how, damage, warned] of damages) {
  test(`a file of vectors ${how} is made again from the store, once`, async () => {
    const path = await closedStore();
    const expected = await slowAnswers(path);
    damage(path);
    const warnings: string[] = [];
    for (let round = 0; round < 2; round++) {
      const store = await opened(path, { onWarning: (message) => warnings.push(message) });
      expect(await answers(store)).toEqual(expected);
      await store.close();
      expect(warnings).toHaveLength(warned ? 1 : 0);
      expect(readdirSync(path).filter((name) => name.startsWith("flat"))).toHaveLength(2);
    }
    expect(manifestOf(path)).toMatchObject({ rows: 650, position: { label: 700, removal: 50 } });
  });
}

test("what a save that was killed left behind is ignored, and deleted by the next", async () => {
  const path = await closedStore();
  const expected = await slowAnswers(path);
  for (const left of ["flat-killed.bin", "flat-killed.tmp"]) writeFileSync(join(path, left), "half");
  expect(await answers(await opened(path))).toEqual(expected);
  const store = await opened(path);
  await store.write(withSparseVectors(documents(700, 1100)));
  await store.close();
  expect(readdirSync(path).filter((name) => name.startsWith("flat"))).toHaveLength(2);
});

test("verify finds a changed byte of the file, and repairs it", async () => {
  const path = await closedStore();
  flipBit(flatFile(path));
  const store = await opened(path);
  const { problems } = await store.verify({ sample: 1 });
  expect(problems).toEqual([expect.objectContaining({ what: "flat", repairable: true })]);
  expect(await store.verify({ sample: 1, repair: true })).toMatchObject({ ok: true, repaired: true });
});

test("a file that is ahead of a restored database is deleted before it is written again", async () => {
  const path = await closedStore();
  const database = readFileSync(join(path, "store.sqlite"));
  const store = await opened(path);
  await store.write(withSparseVectors(documents(700, 1100)));
  await store.close();
  writeFileSync(join(path, "store.sqlite"), database);
  const writing = await opened(path);
  // The store gives labels that the file knows to other chunks, and grows past them.
  await writing.write(withSparseVectors(documents(2000, 2500)));
  // The files as a crash would leave them now.
  const killed = join(temporaryFolder(), "store");
  cpSync(path, killed, { recursive: true });
  expect(await answers(await opened(killed))).toEqual(await slowAnswers(killed));
});

test("vectors without many zeros are not saved, and few are not either", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path);
  await store.write(withVectors(documents(0, 400), dimension));
  await store.close();
  const few = join(temporaryFolder(), "store");
  const small = await opened(few);
  await small.write(withSparseVectors(documents(0, 200)));
  await small.close();
  for (const folder of [path, few]) expect(readdirSync(folder).filter((name) => name.startsWith("flat"))).toEqual([]);
});

test("a store that has grown to a graph deletes the file", async () => {
  const path = await closedStore();
  const store = await opened(path, { index: "hnsw" });
  await store.write(withSparseVectors(documents(700, 710)));
  await store.close();
  expect(readdirSync(path).filter((name) => name.startsWith("flat"))).toEqual([]);
});

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)]! ^= 4;
  writeFileSync(path, bytes);
}
