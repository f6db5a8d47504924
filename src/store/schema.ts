import { randomUUID } from "node:crypto";
import { StoreError } from "../errors.js";
import type { StoreSettings } from "../ports.js";
import type { Database } from "../sqlite/database.js";

// "citw": tells our files from other programs' SQLite files, also to file(1).
const applicationId = 0x63697477;

// A chunk row is never changed in what is searched: new words or another vector make a new row with a new label, and
// AUTOINCREMENT never gives a label twice. So chunks by label, together with the removals by sequence, are the log that
// derived indexes follow. Long columns stand last, where SQLite skips them when they are not asked for.
const firstTables = `
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

const parentColumns = `
  ALTER TABLE chunks ADD COLUMN parent_start INTEGER;
  ALTER TABLE chunks ADD COLUMN parent_end INTEGER;
`;

// What filters ask for, one row a field, or an element of a field that is a list: a leading dot tells a document's metadata
// from its own parts. Kept by triggers, so that whoever writes documents cannot forget it. Texts stand by their beginning,
// one unit more than a filter can ask for, so that a longer one equals none; what reads as a date stands also as the moment
// it names. Numbers are doubles, as they are in JSON.
const filterTables = `
  CREATE TABLE fields (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    value NOT NULL,
    document INTEGER NOT NULL,
    PRIMARY KEY (name, kind, value, document)
  ) WITHOUT ROWID;
  CREATE INDEX fields_by_document ON fields (document);
  CREATE VIEW document_values AS
    SELECT id AS document, 'uri' AS name, 'text' AS type, uri AS value FROM documents
    UNION ALL SELECT id, 'title', 'text', title FROM documents WHERE title IS NOT NULL
    UNION ALL SELECT id, 'source', 'text', source FROM documents WHERE source IS NOT NULL
    UNION ALL SELECT id, 'mediaType', 'text', media_type FROM documents WHERE media_type IS NOT NULL
    UNION ALL
      SELECT documents.id, '.' || field.key, field.type, field.value
      FROM documents, json_each(documents.metadata) AS field
    UNION ALL
      SELECT documents.id, '.' || field.key, element.type, element.value
      FROM documents, json_each(documents.metadata) AS field,
        json_each(CASE field.type WHEN 'array' THEN field.value ELSE '[]' END) AS element;
  CREATE VIEW document_fields AS
    SELECT
      name,
      CASE type WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
        WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE type END AS kind,
      CASE type WHEN 'integer' THEN CAST(value AS REAL) WHEN 'text' THEN substr(value, 1, 1025)
        WHEN 'real' THEN value WHEN 'true' THEN 1 ELSE 0 END AS value,
      document
    FROM document_values;
  CREATE VIEW field_moments AS
    SELECT name, 'moment' AS kind, julianday(value) AS value, document FROM fields
    WHERE kind = 'text' AND value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND julianday(value) IS NOT NULL;
  CREATE TRIGGER fields_of_new AFTER INSERT ON documents BEGIN
    INSERT OR IGNORE INTO fields SELECT * FROM document_fields WHERE document = NEW.id;
    INSERT OR IGNORE INTO fields SELECT * FROM field_moments WHERE document = NEW.id;
  END;
  CREATE TRIGGER fields_of_changed AFTER UPDATE OF uri, title, source, media_type, metadata ON documents BEGIN
    DELETE FROM fields WHERE document = OLD.id;
    INSERT OR IGNORE INTO fields SELECT * FROM document_fields WHERE document = NEW.id;
    INSERT OR IGNORE INTO fields SELECT * FROM field_moments WHERE document = NEW.id;
  END;
  CREATE TRIGGER fields_of_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM fields WHERE document = OLD.id;
  END;
  INSERT OR IGNORE INTO fields SELECT * FROM document_fields;
  INSERT OR IGNORE INTO fields SELECT * FROM field_moments;
`;

// What few documents have, apart from their rows: behind a long text it would cost a walk to read.
const recordTable = `
  CREATE TABLE document_records (
    document INTEGER PRIMARY KEY REFERENCES documents (id),
    revision TEXT,
    cut_by TEXT
  );
  CREATE TRIGGER record_of_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM document_records WHERE document = OLD.id;
  END;
`;

/** What makes a store of version n out of one of version n - 1, in order. What was released is never edited, only added to. */
const upgrades: readonly string[] = [firstTables, parentColumns, filterTables, recordTable];

/** Written into every store; a store of a later version is refused, one of an earlier version is upgraded in place. */
const schemaVersion = upgrades.length;

/**
 * Makes the tables where there are none, upgrades older ones, and refuses what is not a store of ours.
 *
 * @throws StoreError `damaged` for a foreign file, `version` for a store of a later version.
 */
export function prepareSchema(database: Database, path: string): void {
  if (isEmpty(database)) {
    database
      .transaction(() => {
        // Two processes may both have found it empty: the second to get here finds the first one's tables.
        if (!isEmpty(database)) return;
        upgrade(database);
        database.pragma(`application_id = ${applicationId}`);
        writeMeta(database, "store", randomUUID());
      })
      .immediate();
  }
  if (database.pragma("application_id", { simple: true }) !== applicationId) {
    throw new StoreError("damaged", `${path} is a database of another program. Choose another folder for the store`, {
      path,
    });
  }
  const found = Number(database.pragma("user_version", { simple: true }));
  if (found > schemaVersion) {
    throw new StoreError(
      "version",
      `${path} has format ${found}, this version of citewell reads up to ${schemaVersion}. Update citewell, or index into another folder`,
      { path },
    );
  }
  if (found < schemaVersion) database.transaction(() => upgrade(database)).immediate();
}

/** To be called in a transaction: another process may have upgraded meanwhile. */
function upgrade(database: Database): void {
  const from = Number(database.pragma("user_version", { simple: true }));
  for (const step of upgrades.slice(from)) database.exec(step);
  database.pragma(`user_version = ${schemaVersion}`);
}

export type MetaName = "store" | "space" | "dimension" | "token-margin" | "settings";

export function readMeta(database: Database, name: MetaName): string | undefined {
  return database.prepare<[string], { value: string }>("SELECT value FROM meta WHERE name = ?").get(name)?.value;
}

export function writeMeta(database: Database, name: MetaName, value: string): void {
  database
    .prepare("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    .run(name, value);
}

export function readSettings(database: Database): StoreSettings {
  return JSON.parse(readMeta(database, "settings") ?? "{}") as StoreSettings;
}

/** @throws StoreError `space` when the store holds vectors of another space than `wanted`. */
export function checkSpace(stored: string | undefined, wanted: string, path: string): void {
  if (stored === undefined || stored === wanted) return;
  throw new StoreError(
    "space",
    `The store at ${path} holds vectors of ${stored}, the embedder makes vectors of ${wanted}. Use ${stored}, make the store anew with \`citewell migrate --embedding-model ${wanted}\`, or index again into another folder`,
    { path },
  );
}

/** Whether there is nothing in it that anybody wrote. */
export function isUnused(database: Database): boolean {
  if (isEmpty(database)) return true;
  if (database.pragma("application_id", { simple: true }) !== applicationId) return false;
  return readMeta(database, "space") === undefined;
}

function isEmpty(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
}
