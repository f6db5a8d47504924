import { randomUUID } from "node:crypto";
import { StoreError } from "../../core/errors.js";
import type { StoreSettings } from "../../core/ports.js";
import type { Database } from "../../sqlite/database.js";
import { addChecksums, Checksums } from "./checksums.js";
import { decodeText, type StoredText } from "./columns.js";
import { Texts } from "./texts.js";

// "citw": distinguishes our files from those of other programs, also for file(1).
const applicationId = 0x63697477;

// The searched columns of a chunk never change: other words or another vector make a new row with a new label, and
// AUTOINCREMENT never reuses a label. So chunks by label and removals by sequence are a change log that derived indexes
// read. Long columns stand last, because SQLite reads a row only up to the last column that a query names.
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

// The fields that filters test, one row a field or an element of a list. A leading dot marks metadata, as opposed to the
// document's own properties. Triggers maintain the table, so that no writer can forget it. Texts are truncated to one
// character more than a filter may have, so that a longer text equals no filter; a text that reads as a date is also stored
// as a moment. Numbers are doubles, as they are in JSON.
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

// Columns that few documents have. Behind the long text of a row they would be slow to read, so they have a table.
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

// Within a trigger the conflict rule of the outer statement wins over OR IGNORE, so that an upsert of a document whose
// metadata holds a value twice failed: https://www.sqlite.org/lang_createtrigger.html. DISTINCT leaves no conflict.
// julianday() takes February 30 for March 1, so that a text counts as a moment only if its date exists. Text functions of
// SQLite end at a NUL, so that a text with one is cut as bytes: "a\0evil" must not equal "a".
const distinctFields = `
  DROP TRIGGER fields_of_new;
  DROP TRIGGER fields_of_changed;
  DROP VIEW document_fields;
  CREATE VIEW document_fields AS
    SELECT
      name,
      CASE type WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
        WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE type END AS kind,
      CASE type WHEN 'integer' THEN CAST(value AS REAL)
        WHEN 'text' THEN CASE WHEN instr(CAST(value AS BLOB), x'00') THEN CAST(substr(CAST(value AS BLOB), 1, 3100) AS TEXT)
          ELSE substr(value, 1, 1025) END
        WHEN 'real' THEN value WHEN 'true' THEN 1 ELSE 0 END AS value,
      document
    FROM document_values;
  DROP VIEW field_moments;
  CREATE VIEW field_moments AS
    SELECT name, 'moment' AS kind, julianday(value) AS value, document FROM fields
    WHERE kind = 'text' AND value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND julianday(value) IS NOT NULL
      AND date(substr(value, 1, 10)) = substr(value, 1, 10) AND NOT instr(CAST(value AS BLOB), x'00');
  CREATE TRIGGER fields_of_new AFTER INSERT ON documents BEGIN
    INSERT INTO fields SELECT DISTINCT * FROM document_fields WHERE document = NEW.id;
    INSERT INTO fields SELECT DISTINCT * FROM field_moments WHERE document = NEW.id;
  END;
  CREATE TRIGGER fields_of_changed AFTER UPDATE OF uri, title, source, media_type, metadata ON documents BEGIN
    DELETE FROM fields WHERE document = OLD.id;
    INSERT INTO fields SELECT DISTINCT * FROM document_fields WHERE document = NEW.id;
    INSERT INTO fields SELECT DISTINCT * FROM field_moments WHERE document = NEW.id;
  END;
  DELETE FROM fields;
  INSERT INTO fields SELECT DISTINCT * FROM document_fields;
  INSERT INTO fields SELECT DISTINCT * FROM field_moments;
`;

// A table for the checksums of vectors: a column of theirs would mean that an upgrade writes every vector again.
const checksumTables = `
  ALTER TABLE document_records ADD COLUMN checksum INTEGER;
  CREATE TABLE vector_checksums (vector INTEGER PRIMARY KEY, checksum INTEGER NOT NULL);
  CREATE TRIGGER checksum_of_deleted AFTER DELETE ON vectors BEGIN
    DELETE FROM vector_checksums WHERE vector = OLD.id;
  END;
`;

// Any change of a document changes its fingerprint, which invalidates its note.
const noteTable = `
  CREATE TABLE notes (uri TEXT PRIMARY KEY, note TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER note_of_changed AFTER UPDATE OF fingerprint ON documents BEGIN
    DELETE FROM notes WHERE uri = OLD.uri;
  END;
  CREATE TRIGGER note_of_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM notes WHERE uri = OLD.uri;
  END;
  ALTER TABLE document_records DROP COLUMN cut_by;
`;

// A document has 2^20 numbers for the pieces of its text, which are in the order of these numbers.
const textTable = `
  CREATE TABLE texts (piece INTEGER PRIMARY KEY, text NOT NULL);
  CREATE TRIGGER text_of_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM texts WHERE piece BETWEEN OLD.id << 20 AND (OLD.id << 20) + (1 << 20) - 1;
  END;
`;

/** Moves each document's text into a table of pieces, and forgets those of chunks, which are spans of it. */
function moveTexts(database: Database): void {
  database.exec(textTable);
  const texts = new Texts(database);
  const text = database.prepare<[number], StoredText>("SELECT text FROM documents WHERE id = ?").pluck();
  for (const id of database.prepare<[], number>("SELECT id FROM documents").pluck().all()) {
    texts.write(id, decodeText(text.get(id)!));
  }
  database.exec("ALTER TABLE documents DROP COLUMN text; ALTER TABLE chunks DROP COLUMN text");
}

/** Each step upgrades a store by one version. Released steps are never edited, new ones are added. */
const upgrades: readonly (string | ((database: Database) => void))[] = [
  firstTables,
  parentColumns,
  filterTables,
  recordTable,
  distinctFields,
  checksumTables,
  noteTable,
  moveTexts,
];

/** The first version with checksums. They are computed from the latest tables, and stay when those change. */
const checksumVersion = upgrades.indexOf(checksumTables) + 1;

/** Written into every store. A store of a later version is refused, one of an earlier version is upgraded in place. */
const schemaVersion = upgrades.length;

/**
 * Creates the tables of a new store, upgrades those of an older one, and refuses other files.
 *
 * @throws StoreError `damaged` for a foreign file, `version` for a store of a later version.
 */
export function prepareSchema(database: Database, path: string): void {
  if (isEmpty(database)) {
    database
      .transaction(() => {
        // Two processes may have found the file empty: the second one finds the tables of the first here.
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

/** Must run in a transaction: another process may have upgraded in the meantime. */
function upgrade(database: Database): void {
  const from = Number(database.pragma("user_version", { simple: true }));
  for (const step of upgrades.slice(from)) {
    if (typeof step === "string") database.exec(step);
    else step(database);
  }
  if (from < checksumVersion) addChecksums(database);
  database.pragma(`user_version = ${schemaVersion}`);
}

export type MetaName = "store" | "space" | "dimension" | "token-margin" | "settings" | "checksum";

export function readMeta(database: Database, name: MetaName): string | undefined {
  return metaReader(database)(name);
}

/** A prepared variant for frequent readers: preparing the statement takes most of a look-up. */
export function metaReader(database: Database): (name: MetaName) => string | undefined {
  const statement = database.prepare<[string], { value: string }>("SELECT value FROM meta WHERE name = ?");
  return (name) => statement.get(name)?.value;
}

export function writeMeta(database: Database, name: MetaName, value: string): void {
  if (readMeta(database, name) === value) return;
  database
    .prepare("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    .run(name, value);
  new Checksums(database).saveMeta();
}

export function readSettings(database: Database): StoreSettings {
  return JSON.parse(readMeta(database, "settings") ?? "{}") as StoreSettings;
}

/** @throws StoreError `space` when the store holds vectors of another space than `wanted`. */
export function checkSpace(stored: string | undefined, wanted: string, path: string): void {
  if (stored === undefined || stored === wanted) return;
  throw new StoreError(
    "space",
    `The store at ${path} holds vectors of ${stored}, the embedder makes vectors of ${wanted}. Use ${stored}, rebuild the store with \`citewell migrate --embedding-model ${wanted}\`, or index again into another folder`,
    { path },
  );
}

/** Whether nothing was ever written to the store. */
export function isUnused(database: Database): boolean {
  if (isEmpty(database)) return true;
  if (database.pragma("application_id", { simple: true }) !== applicationId) return false;
  return readMeta(database, "space") === undefined;
}

/** Whether the file holds no table yet: it is new, or was cut to nothing. */
export function isEmpty(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
}
