import { rmSync } from "node:fs";
import { join } from "node:path";
import type { StoreProblem } from "../../ports.js";
import { openDatabase } from "../../sqlite/database.js";
import type { DatabaseCheck } from "./check-database.js";

/**
 * Takes out what stands for nothing and makes again what is derived, in one transaction. What cannot be made again, a
 * vector or a chunk of a document, is left out, and its document is marked so that the next ingest writes it anew. Of
 * the saved indexes, those that are broken go: they are made from the store when it is next opened.
 *
 * @returns how many sound vectors were dropped because no chunk uses them.
 */
export function repair(
  folder: string,
  databasePath: string,
  { damaged }: DatabaseCheck,
  derived: readonly StoreProblem[],
  dropUnusedVectors: boolean,
): number {
  const database = openDatabase(databasePath);
  let dropped = 0;
  try {
    database.pragma("foreign_keys = OFF");
    database
      .transaction(() => {
        const run = (sql: string, values: Iterable<number>) => {
          const statement = database.prepare<[number]>(sql);
          for (const value of values) statement.run(value);
        };
        const holders = database.prepare<[number], { label: number; document: number }>(
          "SELECT label, document FROM chunks WHERE vector = ?",
        );
        const of = [...damaged.vectors].flatMap((vector) => holders.all(vector));
        const chunks = new Set([...damaged.chunks, ...of.map(({ label }) => label)]);
        const documents = new Set([...damaged.documents, ...of.map(({ document }) => document)]);
        const owner = database.prepare<[number], { document: number }>("SELECT document FROM chunks WHERE label = ?");
        for (const label of chunks) documents.add(owner.get(label)!.document);
        run("DELETE FROM chunks WHERE label = ?", chunks);
        run("INSERT INTO removals (label) VALUES (?)", chunks);
        // Indexes go by what was logged, and a chunk that got lost was not: each label was given once, so all that are neither
        // there nor logged as gone are such.
        database.exec(`
          INSERT INTO removals (label)
          WITH RECURSIVE given (label) AS (
            SELECT 0 UNION ALL
            SELECT label + 1 FROM given WHERE label < (SELECT seq FROM sqlite_sequence WHERE name = 'chunks'))
          SELECT label FROM given WHERE label > 0
          EXCEPT SELECT label FROM chunks
          EXCEPT SELECT label FROM removals`);
        // Only these: one that no chunk uses was paid for, and may be of a document that is not complete yet.
        run("DELETE FROM vectors WHERE id = ?", damaged.vectors);
        if (dropUnusedVectors) {
          dropped = database.prepare("DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM chunks)").run().changes;
        }
        // No document has this fingerprint, so that none counts as unchanged.
        run("UPDATE documents SET fingerprint = '' WHERE id = ?", documents);
        database.exec(`
          UPDATE documents SET chunk_count = (SELECT count(*) FROM chunks WHERE document = documents.id)
            WHERE fingerprint = '';
          DELETE FROM fields;
          INSERT OR IGNORE INTO fields SELECT * FROM document_fields;
          INSERT OR IGNORE INTO fields SELECT * FROM field_moments;`);
      })
      .immediate();
  } finally {
    database.close();
  }
  for (const { what } of derived) rmSync(join(folder, `${what}.json`), { recursive: true, force: true });
  return dropped;
}
