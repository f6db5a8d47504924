import SQLite from "better-sqlite3";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const made = { space: "made", dimension: 8 };
const one = madeDocument("one", ["alpha beta", "gamma"]);

/** The tables of format 1. */
const firstFormat = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    title TEXT,
    media_type TEXT,
    source TEXT,
    fingerprint TEXT NOT NULL,
    chunk_count INTEGER NOT NULL,
    metadata TEXT,
    anchors TEXT,
    text NOT NULL
  );
  CREATE INDEX documents_by_source ON documents (source);
  CREATE TABLE vectors (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data BLOB NOT NULL);
  CREATE TABLE chunks (
    label INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents (id),
    vector INTEGER NOT NULL REFERENCES vectors (id),
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    line INTEGER,
    page INTEGER,
    anchors TEXT,
    context NOT NULL,
    text NOT NULL
  );
  CREATE INDEX chunks_by_document ON chunks (document);
  CREATE TABLE removals (sequence INTEGER PRIMARY KEY AUTOINCREMENT, label INTEGER NOT NULL);
`;

/** A copy of a store in format 1. */
function asFirstFormat(path: string): string {
  const old = temporaryFolder();
  const source = new SQLite(join(path, "store.sqlite"));
  const applicationId = String(source.pragma("application_id", { simple: true }));
  source.close();
  const database = new SQLite(join(old, "store.sqlite"));
  database.exec(firstFormat);
  database.exec(`ATTACH '${join(path, "store.sqlite")}' AS source`);
  for (const table of ["meta", "documents", "vectors", "chunks", "removals"]) {
    const columns = database.pragma(`main.table_info(${table})`) as readonly { readonly name: string }[];
    const names = columns.map(({ name }) => `"${name}"`).join();
    const written = table === "meta" ? "WHERE name <> 'checksum'" : "";
    database.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM source.${table} ${written}`);
  }
  database.exec(`PRAGMA main.user_version = 1; PRAGMA main.application_id = ${applicationId}`);
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

test("a store of the first format gets checksums when it is upgraded: what is altered from then on is found", async () => {
  const path = join(temporaryFolder(), "store");
  const before = await openStore(path, made);
  await before.write(withVectors([one, madeDocument("two", ["delta"])], 8));
  await before.close();
  const old = asFirstFormat(path);
  const upgraded = await openStore(old, made);
  expect(await upgraded.verify()).toMatchObject({ ok: true, problems: [] });
  await upgraded.close();
  const database = new SQLite(join(old, "store.sqlite"));
  database.exec("UPDATE documents SET title = 'other' WHERE uri = 'two'; UPDATE vectors SET key = 'x' WHERE id = 1");
  database.close();
  const store = await openStore(old, made);
  onTestFinished(() => store.close());
  const { problems } = await store.verify();
  expect(problems.map(({ what }) => what).toSorted()).toEqual(["documents", "keys", "vectors"]);
});
