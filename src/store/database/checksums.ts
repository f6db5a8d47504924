import { crc32 } from "node:zlib";
import type { Database } from "../../sqlite/database.js";
import { encodeText } from "./columns.js";
import { Texts } from "./texts.js";

type Column = string | number | Uint8Array | null;

/** CRC-32 of values as they are stored. It differs for certain when a single byte was altered, also when a text became bytes. */
export function checksumOf(values: readonly Column[], before = 0): number {
  return values.reduce<number>(
    (sum, value) => crc32(value instanceof Uint8Array ? value : `${typeof value}:${value}`, sum),
    before,
  );
}

const statements = (database: Database) => ({
  document: database
    .prepare<[number], Column[]>(
      `SELECT revision, uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors
       FROM documents LEFT JOIN document_records ON document_records.document = documents.id WHERE documents.id = ?`,
    )
    .raw(),
  // Contexts are left out: with their chunk's text they are compared with the key of its vector.
  chunks: database
    .prepare<[number], Column[]>(
      `SELECT chunks.id, start, "end", tokens, parent_start, parent_end, line, page, anchors, key
       FROM chunks LEFT JOIN vectors ON vectors.id = chunks.vector WHERE document = ? ORDER BY label`,
    )
    .raw(),
  saveDocument: database.prepare<[number, number]>(
    `INSERT INTO document_records (document, checksum) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET checksum = excluded.checksum`,
  ),
  saveVector: database.prepare<[number | bigint, number]>(
    "INSERT INTO vector_checksums (vector, checksum) VALUES (?, ?)",
  ),
  meta: database.prepare<[], Column[]>("SELECT name, value FROM meta WHERE name <> 'checksum' ORDER BY name").raw(),
  saveMeta: database.prepare<[string]>(
    "INSERT INTO meta (name, value) VALUES ('checksum', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  ),
});

/** Checksums of the rows that cannot be computed from others, kept beside them so that `verify` can tell what was altered. */
export class Checksums {
  readonly #sql: ReturnType<typeof statements>;
  readonly #texts: Texts;

  constructor(database: Database) {
    this.#sql = statements(database);
    this.#texts = new Texts(database);
  }

  /** Checksum of a document and its chunks, as they are stored now. */
  ofDocument(id: number): number {
    const [revision, ...fields] = this.#sql.document.get(id)!;
    let sum = checksumOf([...fields, encodeText(this.#texts.read(id)), revision!]);
    for (const chunk of this.#sql.chunks.iterate(id)) sum = checksumOf(chunk, sum);
    return sum;
  }

  ofMeta(): string {
    return String(checksumOf(this.#sql.meta.all().flat()));
  }

  saveDocument(id: number): void {
    this.#sql.saveDocument.run(id, this.ofDocument(id));
  }

  saveVector(id: number | bigint, key: string, data: Uint8Array): void {
    this.#sql.saveVector.run(id, checksumOf([key, data]));
  }

  saveMeta(): void {
    this.#sql.saveMeta.run(this.ofMeta());
  }
}

/** Computes all checksums of a store that has none. Vectors are read in pages, because no statement runs while one iterates. */
export function addChecksums(database: Database): void {
  const checksums = new Checksums(database);
  for (const { id } of database.prepare<[], { id: number }>("SELECT id FROM documents").all()) {
    checksums.saveDocument(id);
  }
  const vectors = database.prepare<[number], { id: number; key: string; data: Buffer }>(
    "SELECT id, key, data FROM vectors WHERE id > ? ORDER BY id LIMIT 64",
  );
  for (let some = vectors.all(0); some.length > 0; some = vectors.all(some.at(-1)!.id)) {
    for (const { id, key, data } of some) checksums.saveVector(id, key, data);
  }
  checksums.saveMeta();
}
