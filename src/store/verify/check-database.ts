import type { StoreProblem } from "../../core/ports.js";
import type { Chunk } from "../../core/types.js";
import { type Database, guarded, openPlainDatabase } from "../../sqlite/database.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";
import { Checksums, checksumOf } from "../database/checksums.js";
import { decodeText, decodeVector, dimensionOf, type StoredText } from "../database/columns.js";
import { prepareSchema, readMeta } from "../database/schema.js";
import { StoreReader } from "../database/store-reader.js";
import { Texts } from "../database/texts.js";
import { checkVector } from "../database/vectors.js";
import { TimeSlice } from "../derived/scheduling.js";

/** Start data of the checking thread. */
export interface CheckStart {
  readonly databasePath: string;
}

export type CheckCalls = {
  readonly check: { readonly argument: undefined; readonly result: DatabaseCheck };
  readonly close: { readonly argument: undefined; readonly result: void };
};

/** Broken rows, and the documents that must be written again because of them. */
export interface DamagedRows {
  /** Labels of altered chunks, and of all chunks of altered documents. */
  readonly chunks: Set<number>;
  /** Vectors that were altered, or have no direction in the store's space. */
  readonly vectors: Set<number>;
  /** Documents that were altered, or whose chunks were. */
  readonly documents: Set<number>;
  /** URIs of altered notes. */
  readonly notes: Set<string>;
}

export interface DatabaseCheck {
  readonly problems: readonly StoreProblem[];
  readonly damaged: DamagedRows;
}

type Find = (what: StoreProblem["what"], message: string, repairable?: boolean) => void;

const rowsPerRead = 64;

/** Reads the whole database. Stops early when SQLite itself finds its file broken. */
export async function checkDatabase(database: Database, path: string): Promise<DatabaseCheck> {
  const problems: StoreProblem[] = [];
  const damaged: DamagedRows = { chunks: new Set(), vectors: new Set(), documents: new Set(), notes: new Set() };
  const found: Find = (what, message, repairable = true) => problems.push({ what, message, repairable });
  const integrity = guarded(
    path,
    () => database.pragma("integrity_check(10)") as readonly { readonly integrity_check: string }[],
  );
  for (const { integrity_check: result } of integrity) if (result !== "ok") found("database", result, false);
  if (schemaOf(database) !== expectedSchema()) {
    found("database", "Its tables, views or triggers are not those that this version of citewell creates", false);
  }
  if (problems.length > 0) return { problems, damaged };

  const orphans = database
    .prepare<[], { label: number }>(
      `SELECT label FROM chunks WHERE document NOT IN (SELECT id FROM documents) OR vector NOT IN (SELECT id FROM vectors)`,
    )
    .all();
  for (const { label } of orphans) damaged.chunks.add(label);
  if (orphans.length > 0) found("orphans", `${orphans.length} chunks have no document or no vector`);
  const lostPieces = database
    .prepare<[], number>("SELECT count(*) FROM texts WHERE piece >> 20 NOT IN (SELECT id FROM documents)")
    .pluck()
    .get()!;
  if (lostPieces > 0) found("orphans", `${lostPieces} pieces of texts have no document`);

  const checksums = new Checksums(database);
  const settingsIntact = readMeta(database, "checksum") === checksums.ofMeta();
  if (!settingsIntact) {
    found("settings", "The settings are not those that were written: a repair takes them out, but for the model");
  }
  checkLog(database, damaged, found);
  await checkDocuments(database, checksums, damaged, found);
  const dimension = settingsIntact ? Number(readMeta(database, "dimension") ?? 0) : storedDimension(database);
  await checkVectors(database, dimension ?? 0, damaged, found);
  checkFields(database, found);
  checkNotes(database, damaged, found);
  return { problems, damaged };
}

function schemaOf(database: Database): string {
  return JSON.stringify(database.prepare("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").all());
}

function expectedSchema(): string {
  const database = openPlainDatabase(":memory:", 0);
  try {
    prepareSchema(database, ":memory:");
    return schemaOf(database);
  } finally {
    database.close();
  }
}

/** Each label belongs to a chunk or to a removal, and to one of them: otherwise the search indexes miss changes. */
function checkLog(database: Database, damaged: DamagedRows, found: Find): void {
  const facts = database
    .prepare<[], Record<"given" | "living" | "removed" | "entries" | "first" | "last", number>>(
      `WITH given (label) AS (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0))
       SELECT label AS given,
              (SELECT count(*) FROM chunks) AS living,
              (SELECT count(DISTINCT removals.label) FROM removals WHERE removals.label BETWEEN 1 AND given.label) AS removed,
              coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0) AS entries,
              coalesce((SELECT min(sequence) FROM removals), 1) AS first,
              coalesce((SELECT max(sequence) FROM removals), 0) AS last
       FROM given`,
    )
    .get()!;
  const { given, living, removed, entries, first, last } = facts;
  const both = database
    .prepare<[], { label: number }>("SELECT label FROM chunks WHERE label IN (SELECT label FROM removals)")
    .all();
  for (const { label } of both) damaged.chunks.add(label);
  if (first !== 1 || entries !== last || both.length > 0 || living + removed !== given) {
    found(
      "log",
      `The record of removed chunks was altered: of ${given} chunks ever written, ${living} exist and ${removed} are in it, ` +
        `${both.length} are both, and its ${entries} entries have the numbers ${first} to ${last}`,
    );
  }
}

interface DocumentRow {
  readonly id: number;
  readonly uri: string;
  readonly chunk_count: number;
  readonly fingerprint: string;
  readonly checksum: number | null;
}

interface ChunkRow {
  readonly label: number;
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly parent_start: number | null;
  readonly parent_end: number | null;
  readonly context: StoredText;
  readonly key: string | null;
}

/** A chunk with the text of its span, and the key of its vector. */
interface StoredChunk {
  readonly label: number;
  readonly key: string | null;
  readonly chunk: Chunk;
}

async function checkDocuments(
  database: Database,
  checksums: Checksums,
  damaged: DamagedRows,
  found: Find,
): Promise<void> {
  const documents = database.prepare<[number, number], DocumentRow>(
    `SELECT id, uri, chunk_count, fingerprint, checksum FROM documents
     LEFT JOIN document_records ON document_records.document = documents.id WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const chunksOf = database.prepare<[number], ChunkRow>(
    `SELECT label, chunks.id, start, "end", parent_start, parent_end, context, key
     FROM chunks LEFT JOIN vectors ON vectors.id = chunks.vector WHERE document = ?`,
  );
  const texts = new Texts(database);
  const reader = new StoreReader(database);
  // Computed from everything that was written; a repair empties it. Metadata that was altered may not be read any more.
  const isFingerprint = (fingerprint: string, uri: string, chunks: readonly StoredChunk[]): boolean => {
    try {
      const document = fingerprint === "" ? undefined : reader.document(uri)!;
      return (
        !document ||
        fingerprint ===
          documentFingerprint(
            document,
            chunks.map(({ chunk }) => chunk),
          )
      );
    } catch {
      return false;
    }
  };
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    const some = documents.all(after, rowsPerRead);
    if (some.length === 0) return;
    for (const { id, uri, chunk_count: expected, fingerprint, checksum } of some) {
      after = id;
      const whole = texts.read(id);
      const chunks = chunksOf.all(id).map((row) => chunkOf(row, uri, whole));
      const altered = chunks.filter(({ key, chunk }) => key !== null && key !== vectorKey(chunk));
      for (const { label } of altered) damaged.chunks.add(label);
      const isInPlace = texts.slice(id, 0, whole.length) === whole;
      if (altered.length > 0) found("keys", `${uri}: ${altered.length} chunks are not the texts that were embedded`);
      if (!isInPlace) found("spans", `${uri}: the pieces of its text are not in their places`);
      if (chunks.length !== expected) found("counts", `${uri}: has ${chunks.length} chunks instead of ${expected}`);
      if (!isInPlace || chunks.length !== expected || chunks.some(({ label }) => damaged.chunks.has(label))) {
        damaged.documents.add(id);
      } else if (checksums.ofDocument(id) !== checksum || !isFingerprint(fingerprint, uri, chunks)) {
        found("documents", `${uri}: the document or its chunks are not as they were written: the checksum differs`);
        damaged.documents.add(id);
        for (const { label } of chunks) damaged.chunks.add(label);
      }
      if (slice.over) await slice.next();
    }
  }
}

function chunkOf({ label, key, context, ...row }: ChunkRow, uri: string, whole: string): StoredChunk {
  const { id, start, end, parent_start: parentStart, parent_end: parentEnd } = row;
  const parent = parentStart === null ? {} : { parent: { start: parentStart, end: parentEnd! } };
  const text = whole.slice(start, end);
  return {
    label,
    key,
    chunk: { id, documentId: uri, start, end, text, context: decodeText(context), tokens: 0, ...parent },
  };
}

async function checkVectors(database: Database, dimension: number, damaged: DamagedRows, found: Find): Promise<void> {
  const vectors = database.prepare<
    [number, number],
    { id: number; key: string; data: Buffer; checksum: number | null }
  >(
    `SELECT id, key, data, checksum FROM vectors LEFT JOIN vector_checksums ON vector_checksums.vector = vectors.id
     WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    const some = vectors.all(after, rowsPerRead);
    if (some.length === 0) return;
    for (const { id, key, data, checksum } of some) {
      after = id;
      try {
        if (checksumOf([key, data]) !== checksum) {
          throw new Error(`The vector of text ${key} is not as it was written: its checksum differs`);
        }
        checkVector(decodeVector(data), dimension, `text ${key}`);
      } catch (error) {
        damaged.vectors.add(id);
        found("vectors", (error as Error).message);
      }
    }
    if (slice.over) await slice.next();
  }
}

/** Length of most of the vectors, for when the settings that say it were altered. */
export function storedDimension(database: Database): number | undefined {
  const counts = new Map<number, number>();
  for (const data of database.prepare<[], Buffer>("SELECT data FROM vectors").pluck().iterate()) {
    const dimension = dimensionOf(data);
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

function checkFields(database: Database, found: Find): void {
  const malformed = database.prepare("SELECT 1 FROM documents WHERE NOT json_valid(metadata)").get();
  if (malformed !== undefined) return found("fields", "What filters test cannot be read from the documents' metadata");
  const { wrong } = database
    .prepare<[], { wrong: number }>(
      `WITH expected AS (SELECT * FROM document_fields UNION SELECT * FROM field_moments)
       SELECT (SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM fields))
            + (SELECT count(*) FROM (SELECT * FROM fields EXCEPT SELECT * FROM expected)) AS wrong`,
    )
    .get()!;
  if (wrong > 0) found("fields", `${wrong} rows that filters test differ from the documents`);
}

function checkNotes(database: Database, damaged: DamagedRows, found: Find): void {
  const notes = database.prepare<[], { uri: string; note: string; checksum: number }>("SELECT * FROM notes");
  for (const { uri, note, checksum } of notes.iterate()) {
    if (checksumOf([uri, note]) === checksum) continue;
    damaged.notes.add(uri);
    found("notes", `${uri}: what earlier runs remembered of it was altered: the next one reads it again`);
  }
}
