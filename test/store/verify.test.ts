// In test:all alone: it damages a store in each of its parts and opens it each time, for 50 s.
import {
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { OptionsError, StoreError } from "../../src/core/errors.js";
import type { Store, StoreProblem } from "../../src/core/ports.js";
import { Checksums } from "../../src/store/database/checksums.js";
import { openStore } from "../../src/store/open-store.js";
import { vectorKey } from "../../src/text/chunking/chunk-identity.js";
import { madeDocument, madeVector, withVectors } from "../../src/conformance/made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";
import { SQLite } from "../support/sqlite.js";

const dimension = 16;
const made = Array.from({ length: 40 }, (_, at) =>
  madeDocument(`d${at}`, [`apple ${at}`, `pear ${at}`], { metadata: { at } }),
);

async function opened(path: string, quantization: "none" | "int8" | "int4" = "int4"): Promise<Store> {
  const store = await openStore(path, { space: "made" }, { index: "hnsw", quantization });
  onTestFinished(() => store.close());
  return store;
}

const template = mkdtempSync(join(tmpdir(), "citewell-store-"));
beforeAll(async () => {
  const store = await openStore(template, { space: "made" }, { index: "hnsw" });
  await store.write({ ...withVectors(made, dimension), notes: new Map([["d5", '{"cut":"whole"}']]) });
  await store.close();
});
afterAll(() => rmSync(template, { recursive: true }));

/** A closed store of 40 documents with 80 chunks. */
function closedStore(): string {
  const path = join(temporaryFolder(), "store");
  cpSync(template, path, { recursive: true });
  return path;
}

function changeRows(path: string, sql: string): void {
  const database = new SQLite(join(path, "store.sqlite"));
  database.pragma("foreign_keys = OFF");
  database.exec(sql);
  database.close();
}

const fileOf = (path: string, name: string) =>
  join(
    path,
    readdirSync(path).find((file) => file.startsWith(`${name}-`) && file.endsWith(".bin"))!,
  );

function flipByte(path: string, at: number): void {
  const byte = readFileSync(path)[at]! ^ 0x10;
  const file = openSync(path, "r+");
  writeSync(file, Uint8Array.of(byte), 0, 1, at);
  closeSync(file);
}

/** The report of verify on a sound store with a graph. */
const sound = { ok: true, problems: [], recall: 1, repaired: false, quantization: "int4" };

test("an intact store has no problems, and its recall is measured", async () => {
  const store = await opened(closedStore());
  expect(await store.verify({ sample: 20 })).toEqual(sound);
});

test("an empty store is intact, and has no recall", async () => {
  const store = await opened(temporaryFolder());
  expect(await store.verify()).toEqual({ ok: true, problems: [], recall: undefined, repaired: false });
  await expect(store.verify({ sample: 0 })).rejects.toThrow(OptionsError);
});

/** Results of searches with scores, which for words depend on everything in the index. */
async function answers(path: string) {
  const store = await opened(path);
  const query = { text: "apple 7", vector: madeVector("question", dimension) };
  const found = await Promise.all([store.dense, store.lexical].map((one) => one.retrieve(query, { count: 10 })));
  await store.close();
  return found.map((hits) => hits.map(({ chunkId, score }) => ({ chunkId, score: score.toFixed(4) })));
}

async function answersWithoutIndexes(path: string) {
  const copy = join(temporaryFolder(), "copy");
  cpSync(path, copy, { recursive: true });
  for (const file of readdirSync(copy)) if (/\.(bin|json)$/.test(file)) rmSync(join(copy, file));
  return answers(copy);
}

const pieceOf = (uri: string) => `(SELECT id << 20 FROM documents WHERE uri = '${uri}')`;

const nan = "x'0000c07f'";
const damages: readonly (readonly [string, (path: string) => void, readonly StoreProblem["what"][]])[] = [
  ["a graph file with one bit changed", (path) => flipByte(fileOf(path, "graph"), 5000), ["graph"]],
  ["a graph file that was cut", (path) => truncateSync(fileOf(path, "graph"), 1000), ["graph"]],
  ["a graph file that is missing", (path) => rmSync(fileOf(path, "graph")), ["graph"]],
  ["a graph file of other bytes", (path) => writeFileSync(fileOf(path, "graph"), "no graph"), ["graph"]],
  ["a lexical file with one bit changed", (path) => flipByte(fileOf(path, "lexical"), 500), ["lexical"]],
  [
    "a lexical file in the graph's place",
    (path) => renameSync(fileOf(path, "lexical"), fileOf(path, "graph")),
    ["graph", "lexical"],
  ],
  ["a chunk whose document is gone", (path) => changeRows(path, "DELETE FROM documents WHERE uri = 'd3'"), ["orphans"]],
  ["a chunk whose vector is gone", (path) => changeRows(path, "DELETE FROM vectors WHERE id = 7"), ["orphans"]],
  ["a chunk that is gone", (path) => changeRows(path, "DELETE FROM chunks WHERE label = 9"), ["counts", "log"]],
  [
    "a letter of a text that was changed",
    (path) => changeRows(path, `UPDATE texts SET text = replace(text, 'pear', 'bear') WHERE piece = ${pieceOf("d5")}`),
    ["keys"],
  ],
  [
    "a piece of a text that was put elsewhere",
    (path) => changeRows(path, `UPDATE texts SET piece = piece + 3 WHERE piece = ${pieceOf("d5")}`),
    ["spans"],
  ],
  [
    "a piece of a text that was put where no document is",
    (path) => changeRows(path, `UPDATE texts SET piece = 1000000 << 20 WHERE piece = ${pieceOf("d5")}`),
    ["keys", "orphans"],
  ],
  [
    "a title that was changed",
    (path) => changeRows(path, "UPDATE documents SET title = 'other' WHERE uri = 'd5'"),
    ["documents"],
  ],
  [
    "a place of a chunk that was changed",
    (path) => changeRows(path, "UPDATE chunks SET line = 7 WHERE label = 9"),
    ["documents"],
  ],
  [
    "a vector with one bit changed",
    (path) => changeRows(path, "UPDATE vectors SET data = CAST(substr(data, 1, 63) || x'3e' AS BLOB) WHERE id = 4"),
    ["vectors"],
  ],
  [
    "a setting that was changed",
    (path) => changeRows(path, "UPDATE meta SET value = '17' WHERE name = 'dimension'"),
    ["settings"],
  ],
  ["a removal of a chunk that exists", (path) => changeRows(path, "INSERT INTO removals (label) VALUES (9)"), ["log"]],
  [
    "a chunk that is not a slice of its document",
    (path) => changeRows(path, "UPDATE chunks SET start = start + 1 WHERE label = 9"),
    ["keys"],
  ],
  [
    "a document whose text was changed",
    (path) => changeRows(path, `UPDATE texts SET text = 'other' WHERE piece = ${pieceOf("d5")}`),
    ["keys"],
  ],
  [
    "a vector with a component that is not a number",
    (path) => changeRows(path, `UPDATE vectors SET data = CAST(substr(data, 1, 60) || ${nan} AS BLOB) WHERE id = 4`),
    ["vectors"],
  ],
  [
    "a vector that was cut",
    (path) => changeRows(path, "UPDATE vectors SET data = substr(data, 1, 30) WHERE id = 4"),
    ["vectors"],
  ],
  ["a vector of zeros", (path) => changeRows(path, "UPDATE vectors SET data = zeroblob(64) WHERE id = 4"), ["vectors"]],
  [
    "a note of a file with one letter changed",
    (path) => changeRows(path, "UPDATE notes SET note = replace(note, 'cut', 'cup') WHERE uri = 'd5'"),
    ["notes"],
  ],
  [
    "fields that differ from the document",
    (path) => changeRows(path, "UPDATE fields SET value = 99 WHERE name = '.at' AND value = 3"),
    ["fields"],
  ],
];

for (const [how, damage, expected] of damages) {
  test(`${how} is found, and repaired so that ingesting again makes the store whole`, async () => {
    const path = closedStore();
    damage(path);
    const store = await opened(path);
    const found = await store.verify();
    expect(found.ok).toBe(false);
    expect([...new Set(found.problems.map(({ what }) => what))].toSorted()).toEqual(expected.toSorted());
    const repaired = await store.verify({ repair: true });
    expect(repaired).toMatchObject({
      ok: true,
      repaired: true,
      problems: found.problems,
      recall: expect.closeTo(1, 1),
    });
    // Documents that lost something do not count as unchanged: an ingest writes them again.
    const infos = await Promise.all(made.map(({ document }) => store.documentInfo(document.uri)));
    const lost = made.filter((_, at) => !infos[at] || infos[at].fingerprint === "");
    if (!["graph", "lexical", "fields", "settings", "notes"].includes(expected[0]!)) expect(lost.length).toBe(1);
    await store.write(withVectors(lost, dimension));
    expect(await store.counts()).toEqual({ documents: 40, chunks: 80, vectors: 80 });
    const query = { text: "apple", vector: madeVector("question", dimension) };
    expect(await store.dense.retrieve(query, { count: 100, filter: { metadata: { at: { lt: 20 } } } })).toHaveLength(
      40,
    );
    expect(await store.lexical.retrieve(query, { count: 100 })).toHaveLength(40);
    await store.close();
    expect(await answers(path)).toEqual(await answersWithoutIndexes(path));
    expect(await (await opened(path)).verify()).toMatchObject({ ok: true, problems: [] });
  });
}

test("a letter that was changed in a text, in the key of its chunk's vector and in every checksum is found", async () => {
  const path = closedStore();
  const database = new SQLite(join(path, "store.sqlite"));
  const id = database.prepare<[], number>("SELECT id FROM documents WHERE uri = 'd5'").pluck().get()!;
  database.exec(`UPDATE texts SET text = replace(text, 'pear', 'bear') WHERE piece = ${id} << 20`);
  const key = vectorKey({ context: "", text: "bear 5" });
  database.exec(`UPDATE vectors SET key = '${key}' WHERE id = 12; DELETE FROM vector_checksums WHERE vector = 12`);
  const data = database.prepare<[], Buffer>("SELECT data FROM vectors WHERE id = 12").pluck().get()!;
  const checksums = new Checksums(database);
  checksums.saveDocument(id);
  checksums.saveVector(12, key, data);
  database.close();
  const store = await opened(path);
  const problems = [expect.objectContaining({ what: "documents", message: expect.stringContaining("d5") })];
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, problems });
  expect(await store.documentInfo("d5")).toMatchObject({ fingerprint: "" });
});

test("a repair keeps intact vectors: deleted chunks come back without embedding their texts", async () => {
  const path = closedStore();
  changeRows(path, "UPDATE chunks SET start = start + 1 WHERE label = 9; DELETE FROM chunks WHERE label = 20");
  const store = await opened(path);
  await store.deleteDocuments(["d1"]);
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true });
  expect(await store.counts()).toEqual({ documents: 39, chunks: 76, vectors: 80 });
  await store.write({ documents: made });
  expect(await store.counts()).toEqual({ documents: 40, chunks: 80, vectors: 80 });
  expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
});

test("vectors that no chunk uses are dropped on request, whether the store is intact or not, and no others", async () => {
  const path = closedStore();
  const store = await opened(path);
  await store.deleteDocuments(["d1"]);
  await expect(store.verify({ dropUnusedVectors: true })).rejects.toThrow(OptionsError);
  expect((await store.counts()).vectors).toBe(80);
  const done = { ...sound, repaired: true, droppedVectors: 2 };
  expect(await store.verify({ repair: true, dropUnusedVectors: true })).toEqual(done);
  expect(await store.counts()).toEqual({ documents: 39, chunks: 78, vectors: 78 });
  await store.close();
  changeRows(path, "DELETE FROM chunks WHERE label = 20");
  const broken = await opened(path);
  expect(await broken.verify({ repair: true, dropUnusedVectors: true })).toMatchObject({ ok: true, droppedVectors: 1 });
  expect(await broken.counts()).toEqual({ documents: 39, chunks: 77, vectors: 77 });
});

test("a database that SQLite finds broken is refused when it is opened, or reported, and never repaired", async () => {
  const path = closedStore();
  const file = join(path, "store.sqlite");
  const bytes = readFileSync(file);
  // Every page but the first few, which name the tables.
  for (let at = 4096 * 12; at < bytes.length; at += 512) bytes[at]! ^= 0xff;
  writeFileSync(file, bytes);
  const verified = (async () => (await opened(path)).verify({ repair: true }))();
  const outcome = await verified.catch((error: unknown) => error);
  if (outcome instanceof StoreError) expect(outcome.code).toBe("damaged");
  else {
    expect(outcome).toMatchObject({ ok: false, repaired: false, recall: undefined });
    expect(outcome).toHaveProperty("problems.0", expect.objectContaining({ what: "database", repairable: false }));
  }
});

test("a store that is written to while it is verified is checked as one snapshot", async () => {
  const path = closedStore();
  const [writing, reading] = [await opened(path), await opened(path)];
  const versions = ["one", "other"].map((word) =>
    made.map(({ document }) => madeDocument(document.uri, [`${word} ${document.uri}`, `${word} more`, word])),
  );
  const done = new AbortController();
  const rewriting = (async () => {
    while (!done.signal.aborted) for (const version of versions) await writing.write(withVectors(version, dimension));
  })();
  for (let check = 0; check < 15; check++) expect((await reading.verify({ sample: 1 })).problems).toEqual([]);
  done.abort();
  await rewriting;
});

test("a store that another handle writes to can be verified, but not repaired", async () => {
  const path = closedStore();
  const writing = await opened(path);
  await writing.deleteDocuments(["d2"]);
  // Held, because the lock is let go of soon after a write.
  const release = await writing.claim!();
  onTestFinished(release);
  const reading = await opened(path);
  expect(await reading.verify()).toMatchObject({ ok: true });
  await expect(reading.verify({ repair: true })).rejects.toMatchObject({ code: "locked" });
});

test("an aborted verify rejects with the caller's reason, with or without repair, and the store can be verified again", async () => {
  const store = await opened(closedStore());
  for (const repair of [false, true]) {
    for (const turns of [0, 1, 3]) {
      const stopping = new AbortController();
      const reason = new Error("enough");
      const verifying = store.verify({ repair, signal: stopping.signal });
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      stopping.abort(reason);
      await expect(verifying).rejects.toBe(reason);
    }
  }
  expect(await store.verify({ sample: 5 })).toEqual(sound);
  await store.write(withVectors([madeDocument("late", ["written after all that"])], dimension));
});

test("verify says how the graph keeps vectors, and another quantization builds it again from the stored ones", async () => {
  const path = closedStore();
  const query = { text: "", vector: madeVector("a question", dimension) };
  const found: (readonly string[])[] = [];
  for (const quantization of ["int8", "none", "int8", "int4", "int8", "int4", "none", "int4"] as const) {
    // The store has no embedder: nothing could be embedded again.
    const store = await opened(path, quantization);
    found.push((await store.dense.retrieve(query, { count: 80 })).map(({ chunkId }) => chunkId));
    await store.close();
    const again = await opened(path, quantization);
    expect(await again.verify()).toEqual({ ok: true, problems: [], recall: 1, quantization, repaired: false });
    expect(await again.counts()).toEqual({ documents: 40, chunks: 80, vectors: 80 });
    await again.close();
  }
  expect(found[0]).toHaveLength(80);
  expect(found).toEqual(found.map(() => found[0]));
});
