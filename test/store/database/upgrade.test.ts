import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { encodeText } from "../../../src/store/database/columns.js";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";
import { SQLite } from "../../support/sqlite.js";

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

/** Texts as format 1 held them, of documents that are no longer than a piece. */
const textColumns: Readonly<Record<string, string>> = {
  documents: "(SELECT text FROM source.texts WHERE piece = documents.id << 20)",
  chunks: `(SELECT substr(text, start + 1, "end" - start) FROM source.texts WHERE piece = document << 20)`,
};

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
    const values = names.replace('"text"', textColumns[table] ?? "");
    database.exec(`INSERT INTO main.${table} (${names}) SELECT ${values} FROM source.${table} ${written}`);
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

/** Gives a store the columns of texts that format 7 had, and puts the texts of documents and chunks there. */
function toFormat7(path: string, texts: ReadonlyMap<string, string>): void {
  const database = new SQLite(join(path, "store.sqlite"));
  database.exec(
    "ALTER TABLE documents ADD COLUMN text; ALTER TABLE chunks ADD COLUMN text; DROP TRIGGER text_of_deleted",
  );
  for (const [uri, text] of texts) {
    database.prepare("UPDATE documents SET text = ? WHERE uri = ?").run(encodeText(text), uri);
    const update = database.prepare("UPDATE chunks SET text = ? WHERE label = ?");
    for (const { label, start, end } of database
      .prepare<[string], { label: number; start: number; end: number }>(
        `SELECT label, start, "end" FROM chunks JOIN documents ON documents.id = document WHERE uri = ?`,
      )
      .all(uri)) {
      update.run(encodeText(text.slice(start, end)), label);
    }
  }
  database.exec("DROP TABLE texts; PRAGMA user_version = 7");
  database.close();
}

test("texts of any length and content survive the move into pieces, and what was damaged before it stays found", async () => {
  const path = join(temporaryFolder(), "store");
  // Pieces have 8192 code units: a pair of surrogates lies across the first edge.
  const long = madeDocument("long", [
    `${"x".repeat(8190)} 🙂 over the edge`,
    "y".repeat(20_000),
    "\ud800 alone",
    "end",
  ]);
  const spoilt = madeDocument("spoilt", ["kept", "spoilt"]);
  const all = [long, spoilt, madeDocument("empty", [])];
  const before = await openStore(path, made);
  await before.write(withVectors(all, 8));
  await before.close();
  const texts = new Map(all.map(({ document }) => [document.uri, document.text]));
  toFormat7(path, texts.set("spoilt", "kept\n\nspoild"));
  const store = await openStore(path, made);
  onTestFinished(() => store.close());
  expect((await store.document("long"))!.text).toBe(long.document.text);
  expect((await store.document("empty"))!.text).toBe("");
  const hits = await store.hits(long.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
  expect(hits.map(({ chunk }) => chunk)).toEqual(long.chunks);
  const { problems } = await store.verify();
  expect(problems).toEqual([expect.objectContaining({ what: "keys", message: expect.stringContaining("spoilt") })]);
});
