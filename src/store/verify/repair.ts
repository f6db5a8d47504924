import { rmSync } from "node:fs";
import { join } from "node:path";
import type { StoreProblem } from "../../core/ports.js";
import { type Database, openDatabase } from "../../sqlite/database.js";
import { Checksums } from "../database/checksums.js";
import { readMeta, writeMeta } from "../database/schema.js";
import { Texts } from "../database/texts.js";
import type { StoreFolder } from "../database/store-folder.js";
import { type DamagedRows, storedDimension } from "./check-database.js";

/**
 * Deletes broken rows and recomputes derived ones, in one transaction, so that a crash leaves all or nothing repaired. A
 * document that loses a vector or a chunk is marked, so that the next ingest writes it again. Broken saved indexes are
 * deleted, and built from the store when it is next opened.
 *
 * @returns how many intact vectors were dropped because no chunk uses them.
 */
export function repair(
  { path, databasePath }: StoreFolder,
  damaged: DamagedRows,
  brokenIndexes: readonly StoreProblem[],
  dropUnusedVectors: boolean,
): number {
  const database = openDatabase(databasePath);
  let dropped = 0;
  try {
    database.pragma("foreign_keys = OFF");
    database
      .transaction(() => {
        const run = (sql: string, values: Iterable<number | string>) => {
          const statement = database.prepare<[number | string]>(sql);
          for (const value of values) statement.run(value);
        };
        const holders = database.prepare<[number], { label: number; document: number }>(
          "SELECT label, document FROM chunks WHERE vector = ?",
        );
        const users = [...damaged.vectors].flatMap((vector) => holders.all(vector));
        const chunks = new Set([...damaged.chunks, ...users.map(({ label }) => label)]);
        const documents = new Set([...damaged.documents, ...users.map(({ document }) => document)]);
        const owner = database.prepare<[number], { document: number }>("SELECT document FROM chunks WHERE label = ?");
        for (const label of chunks) documents.add(owner.get(label)!.document);
        run("DELETE FROM chunks WHERE label = ?", chunks);
        run("INSERT INTO removals (label) VALUES (?)", chunks);
        // Indexes read the log of removals, and a lost chunk is not in it. Each label is used once, so all labels without a
        // chunk or a removal are lost ones. No chunk has the label 0.
        database.exec(`
          UPDATE removals SET label = 0 WHERE label < 1 OR
            label > max((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), coalesce((SELECT max(label) FROM chunks), 0));
          UPDATE removals SET sequence = 1 WHERE sequence < 1;
          DELETE FROM sqlite_sequence;
          INSERT INTO sqlite_sequence (name, seq) VALUES
            ('chunks', max(coalesce((SELECT max(label) FROM chunks), 0), coalesce((SELECT max(label) FROM removals), 0))),
            ('removals', coalesce((SELECT max(sequence) FROM removals), 0));
          INSERT INTO removals (label)
          WITH RECURSIVE given (label) AS (
            SELECT 0 UNION ALL
            SELECT label + 1 FROM given WHERE label < (SELECT seq FROM sqlite_sequence WHERE name = 'chunks'))
          SELECT label FROM given WHERE label > 0
          EXCEPT SELECT label FROM chunks
          EXCEPT SELECT label FROM removals`);
        run("DELETE FROM notes WHERE uri = ?", damaged.notes);
        // Vectors that no chunk uses stay: they were paid for, and their document may not be complete yet.
        run("DELETE FROM vectors WHERE id = ?", damaged.vectors);
        if (dropUnusedVectors) {
          dropped = database.prepare("DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM chunks)").run().changes;
        }
        const texts = new Texts(database);
        for (const id of documents) texts.write(id, texts.read(id));
        // No document has this fingerprint, so that these do not count as unchanged.
        run("UPDATE documents SET fingerprint = '' WHERE id = ?", documents);
        database.exec(`
          UPDATE documents SET metadata = NULL WHERE NOT json_valid(metadata);
          UPDATE documents SET anchors = NULL WHERE NOT json_valid(anchors);
          DELETE FROM texts WHERE piece >> 20 NOT IN (SELECT id FROM documents);
          UPDATE document_records SET revision = NULL WHERE NOT json_valid(revision);
          UPDATE documents SET chunk_count = (SELECT count(*) FROM chunks WHERE document = documents.id)
            WHERE fingerprint = '';
          DELETE FROM fields;
          INSERT OR IGNORE INTO fields SELECT * FROM document_fields;
          INSERT OR IGNORE INTO fields SELECT * FROM field_moments;`);
        const checksums = new Checksums(database);
        for (const { id } of database
          .prepare<[], { id: number }>("SELECT id FROM documents WHERE fingerprint = ''")
          .all()) {
          checksums.saveDocument(id);
        }
        if (checksums.ofMeta() !== readMeta(database, "checksum")) restoreMeta(database, checksums);
      })
      .immediate();
  } finally {
    database.close();
  }
  for (const { what } of brokenIndexes) rmSync(join(path, `${what}.json`), { recursive: true, force: true });
  return dropped;
}

/** Removes altered settings. All are chosen or learned again, except those that the vectors determine. */
function restoreMeta(database: Database, checksums: Checksums): void {
  database.exec("DELETE FROM meta WHERE name NOT IN ('store', 'space')");
  const dimension = storedDimension(database);
  if (dimension !== undefined) writeMeta(database, "dimension", String(dimension));
  checksums.saveMeta();
}
