import SQLite from "better-sqlite3";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const made = { space: "made", dimension: 8 };
const one = madeDocument("one", ["alpha beta", "gamma"]);

/** The tables of format 1. */
const firstFormat: Readonly<Record<string, string>> = {
  meta: "name TEXT PRIMARY KEY, value TEXT NOT NULL",
  documents: `id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, title TEXT, media_type TEXT, source TEXT,
    fingerprint TEXT NOT NULL, chunk_count INTEGER NOT NULL, metadata TEXT, anchors TEXT, text NOT NULL`,
  vectors: "id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data BLOB NOT NULL",
  chunks: `label INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents (id), vector INTEGER NOT NULL REFERENCES vectors (id),
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, tokens INTEGER NOT NULL, line INTEGER, page INTEGER, anchors TEXT,
    context NOT NULL, text NOT NULL`,
  removals: "sequence INTEGER PRIMARY KEY AUTOINCREMENT, label INTEGER NOT NULL",
};

/** A copy of a store in format 1. */
function asFirstFormat(path: string): string {
  const old = temporaryFolder();
  const database = new SQLite(join(path, "store.sqlite"));
  database.exec(`ATTACH '${join(old, "store.sqlite")}' AS old`);
  for (const [table, columns] of Object.entries(firstFormat)) {
    database.exec(`CREATE TABLE old.${table} (${columns})`);
    const names = (database.pragma(`old.table_info(${table})`) as { name: string }[]).map(({ name }) => `"${name}"`);
    database.exec(`INSERT INTO old.${table} (${names.join()}) SELECT ${names.join()} FROM main.${table}`);
  }
  database.exec("CREATE INDEX old.chunks_by_document ON chunks (document)");
  database.exec("PRAGMA old.user_version = 1");
  database.exec(`PRAGMA old.application_id = ${String(database.pragma("application_id", { simple: true }))}`);
  database.close();
  return old;
}

test("a store of the first format is upgraded when it is opened: nothing is lost, and nothing has to be embedded again", async () => {
  const path = join(temporaryFolder(), "store");
  const before = await openStore(path, made);
  await before.write(withVectors([one], 8));
  await before.close();
  const store = await openStore(asFirstFormat(path), made);
  onTestFinished(() => store.close());
  const hits = () => store.hits(one.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
  expect((await hits()).map(({ chunk }) => chunk)).toEqual(one.chunks);
  const widened = one.chunks.map((chunk) => ({ ...chunk, parent: { start: 0, end: one.document.text.length } }));
  const [written] = await store.write({ documents: [{ document: one.document, chunks: widened }] });
  expect(written).toMatchObject({ outcome: "updated", deletedChunks: 0 });
  expect((await hits()).map(({ chunk }) => chunk)).toEqual(widened);
});
