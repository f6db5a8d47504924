import type { StoreProblem } from "../../core/ports.js";
import { type Database, guarded } from "../../sqlite/database.js";
import { decodeText, decodeVector, type StoredText } from "../database/columns.js";
import { readMeta } from "../database/schema.js";
import { checkVector } from "../database/vectors.js";
import { TimeSlice } from "../derived/scheduling.js";

/** What the checking thread is started with. */
export interface CheckStart {
  readonly databasePath: string;
}

export type CheckCalls = {
  readonly check: { readonly argument: undefined; readonly result: DatabaseCheck };
  readonly close: { readonly argument: undefined; readonly result: void };
};

/** Broken rows, and the documents that must be written again because of them. */
export interface DamagedRows {
  /** Labels of chunks without a document or a vector, or with another text than their document has there. */
  readonly chunks: Set<number>;
  /** Vectors without a direction in the store's space. */
  readonly vectors: Set<number>;
  /** Documents whose chunks are missing or wrong. */
  readonly documents: Set<number>;
}

export interface DatabaseCheck {
  readonly problems: readonly StoreProblem[];
  readonly damaged: DamagedRows;
}

const rowsPerRead = 64;

/** Reads the whole database. Stops early when SQLite itself finds its file broken. */
export async function checkDatabase(database: Database, path: string): Promise<DatabaseCheck> {
  const problems: StoreProblem[] = [];
  const damaged: DamagedRows = { chunks: new Set(), vectors: new Set(), documents: new Set() };
  const found = (what: StoreProblem["what"], message: string, repairable = true) =>
    problems.push({ what, message, repairable });
  const integrity = guarded(
    path,
    () => database.pragma("integrity_check(10)") as readonly { readonly integrity_check: string }[],
  );
  for (const { integrity_check: result } of integrity) if (result !== "ok") found("database", result, false);
  if (problems.length > 0) return { problems, damaged };

  const orphans = database
    .prepare<[], { label: number }>(
      `SELECT label FROM chunks WHERE document NOT IN (SELECT id FROM documents) OR vector NOT IN (SELECT id FROM vectors)`,
    )
    .all();
  for (const { label } of orphans) damaged.chunks.add(label);
  if (orphans.length > 0) found("orphans", `${orphans.length} chunks have no document or no vector`);

  await checkDocuments(database, damaged, found);
  await checkVectors(database, damaged, found);

  const { wrong } = database
    .prepare<[], { wrong: number }>(
      `WITH expected AS (SELECT * FROM document_fields UNION SELECT * FROM field_moments)
       SELECT (SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM fields))
            + (SELECT count(*) FROM (SELECT * FROM fields EXCEPT SELECT * FROM expected)) AS wrong`,
    )
    .get()!;
  if (wrong > 0) found("fields", `${wrong} rows that filters test differ from the documents`);
  return { problems, damaged };
}

type Find = (what: StoreProblem["what"], message: string) => void;

async function checkDocuments(database: Database, damaged: DamagedRows, found: Find): Promise<void> {
  const documents = database.prepare<
    [number, number],
    { id: number; uri: string; chunk_count: number; text: StoredText }
  >("SELECT id, uri, chunk_count, text FROM documents WHERE id > ? ORDER BY id LIMIT ?");
  const chunks = database.prepare<[number], { label: number; start: number; end: number; text: StoredText }>(
    'SELECT label, start, "end", text FROM chunks WHERE document = ?',
  );
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    const some = documents.all(after, rowsPerRead);
    if (some.length === 0) return;
    for (const { id, uri, chunk_count: expected, text } of some) {
      after = id;
      const whole = decodeText(text);
      const its = chunks.all(id);
      const elsewhere = its.filter(({ start, end, text: own }) => whole.slice(start, end) !== decodeText(own));
      for (const { label } of elsewhere) damaged.chunks.add(label);
      if (elsewhere.length > 0) found("spans", `${uri}: ${elsewhere.length} chunks are not that slice of the document`);
      if (its.length !== expected) found("counts", `${uri}: has ${its.length} chunks instead of ${expected}`);
      if (elsewhere.length > 0 || its.length !== expected) damaged.documents.add(id);
      if (slice.over) await slice.next();
    }
  }
}

async function checkVectors(database: Database, damaged: DamagedRows, found: Find): Promise<void> {
  const dimension = Number(readMeta(database, "dimension") ?? 0);
  const vectors = database.prepare<[number, number], { id: number; key: string; data: Buffer }>(
    "SELECT id, key, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?",
  );
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    const some = vectors.all(after, rowsPerRead);
    if (some.length === 0) return;
    for (const { id, key, data } of some) {
      after = id;
      try {
        if (data.length % 4 !== 0) throw new Error(`The vector of text ${key} has ${data.length} bytes`);
        checkVector(decodeVector(data), dimension, `text ${key}`);
      } catch (error) {
        damaged.vectors.add(id);
        found("vectors", (error as Error).message);
      }
    }
    if (slice.over) await slice.next();
  }
}
