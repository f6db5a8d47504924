import { OptionsError } from "../../../core/errors.js";
import type { WrittenDocument } from "../../../core/ports.js";
import { checksumOf } from "../../database/checksums.js";
import { decodeVector, encodeVector } from "../../database/columns.js";
import { normalised } from "../../database/vectors.js";
import { bigints, byteStrings, doubles, integers, texts, vectors } from "../columns/binary-parameters.js";
import { columnText } from "../columns/column-text.js";
import { filterFields } from "../filters/filter-fields.js";
import type { Session } from "../connection/server.js";
import type { ChunkColumns, PreparedDocument } from "../columns/stored-document.js";

/**
 * Keeps vectors by key. The first vector of a text stays.
 *
 * @param wanted keys whose vectors are returned where they were stored before: those that were new are left out.
 */
export async function insertVectors(
  session: Session,
  given: ReadonlyMap<string, Float32Array>,
  wanted: readonly string[] = [],
): Promise<{ readonly fresh: ReadonlySet<string>; readonly stored: Map<string, Float32Array> }> {
  const keys = [...given.keys()].map(columnText);
  const data = [...given.values()].map(encodeVector);
  const checksums = data.map((bytes, at) => checksumOf([keys[at]!, bytes]));
  // In order, so that two writers of the same texts wait for each other and never in a circle.
  const rows = await session.query<{ key: string; data: Buffer | null }>(
    `WITH fresh AS (
       INSERT INTO vectors SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS v (key, data, checksum)
       ORDER BY key COLLATE "C" ON CONFLICT DO NOTHING RETURNING key)
     SELECT key, NULL::bytea AS data FROM fresh
     UNION ALL SELECT key, data FROM vectors WHERE key = ANY($4::text[])`,
    [texts(keys), byteStrings(data), bigints(checksums), texts(wanted.map(columnText))],
  );
  const fresh = new Set(rows.flatMap(({ key, data: bytes }) => (bytes ? [] : [key])));
  const stored = new Map(rows.flatMap(({ key, data: bytes }) => (bytes ? [[key, decodeVector(bytes)] as const] : [])));
  // Those that another writer has just committed, which the statement above waited for and cannot see yet.
  const isWanted = new Set(wanted.map(columnText));
  const late = keys.filter((key) => isWanted.has(key) && !fresh.has(key) && !stored.has(key));
  for (const [key, vector] of await storedVectors(session, late)) stored.set(key, vector);
  return { fresh, stored };
}

export async function storedVectors(session: Session, keys: readonly string[]): Promise<Map<string, Float32Array>> {
  if (keys.length === 0) return new Map();
  const found = await session.query<{ key: string; data: Buffer }>(
    "SELECT key, data FROM vectors WHERE key = ANY($1::text[])",
    [texts(keys.map(columnText))],
  );
  return new Map(found.map(({ key, data }) => [key, decodeVector(data)]));
}

interface OldChunk {
  readonly label: number;
  readonly id: string;
  readonly document: number;
  readonly vector: string;
  readonly context: string;
}

/** Writes each document in place of its earlier version. Chunks whose text did not change keep their vector and words. */
export async function writeDocuments(
  session: Session,
  documents: readonly PreparedDocument[],
  embedding: (key: string) => Float32Array,
): Promise<WrittenDocument[]> {
  if (documents.length === 0) return [];
  const ids = await upsert(session, documents);
  const idOf = (each: PreparedDocument) => ids.get(each.columns.uri)!.id;
  const updated = [...ids.values()].flatMap(({ id, added }) => (added ? [] : [id]));
  const old = new Map(updated.map((id) => [id, new Map<string, OldChunk>()]));
  if (updated.length > 0) {
    for (const chunk of await deleteParts(session, updated)) old.get(chunk.document)!.set(chunk.id, chunk);
  }
  const fresh: NewChunk[] = [];
  const moved: (ChunkColumns & { readonly label: number })[] = [];
  for (const each of documents) {
    const before = old.get(idOf(each));
    for (const [at, chunk] of each.chunks.entries()) {
      const same = before?.get(chunk.id);
      if (same?.vector === chunk.vector && same.context === chunk.context) {
        before!.delete(chunk.id);
        moved.push({ ...chunk, label: same.label });
      } else fresh.push({ chunk, document: idOf(each), words: each.wordsOf(at) });
    }
  }
  await removeChunks(
    session,
    [...old.values()].flatMap((left) => [...left.values()].map(({ label }) => label)),
  );
  await insertParts(session, documents, idOf);
  await moveChunks(session, moved);
  if (fresh.length > 0) await insertChunks(session, fresh, embedding);
  return documents.map((each) => ({
    uri: each.document.uri,
    outcome: ids.get(each.columns.uri)!.added ? "added" : "updated",
    chunks: each.chunks.length,
    deletedChunks: old.get(idOf(each))?.size ?? 0,
  }));
}

export async function writeNotes(session: Session, notes: ReadonlyMap<string, string>): Promise<void> {
  if (notes.size === 0) return;
  const [uris, values] = [[...notes.keys()].map(columnText), [...notes.values()].map(columnText)];
  await session.query(
    `INSERT INTO notes SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (uri, note, checksum)
     ORDER BY uri COLLATE "C"
     ON CONFLICT (uri) DO UPDATE SET note = excluded.note, checksum = excluded.checksum`,
    [texts(uris), texts(values), bigints(uris.map((uri, at) => checksumOf([uri, values[at]!])))],
  );
}

export async function deleteDocuments(
  session: Session,
  uris: readonly string[],
): Promise<{ documents: number; chunks: number }> {
  const found = await session.query<{ id: number; uri: string }>(
    "SELECT id, uri FROM documents WHERE uri = ANY($1::text[]) ORDER BY uri FOR UPDATE",
    [texts(uris.map(columnText))],
  );
  if (found.length === 0) return { documents: 0, chunks: 0 };
  const ids = found.map(({ id }) => id);
  const chunks = await deleteParts(session, ids);
  await removeChunks(
    session,
    chunks.map(({ label }) => label),
  );
  await session.query("DELETE FROM documents WHERE id = ANY($1::bigint[])", [bigints(ids)]);
  return { documents: found.length, chunks: chunks.length };
}

/** Deletes documents, and notes of uris that have no document as well. */
export async function deleteWithNotes(session: Session, uris: readonly string[]): Promise<void> {
  await deleteDocuments(session, uris);
  await session.query("DELETE FROM notes WHERE uri = ANY($1::text[])", [texts(uris.map(columnText))]);
}

/**
 * Deletes what documents have beside their rows and their chunks, which it returns. What was noted about a document does not
 * hold any more. The rows have to be locked before, by an earlier statement: this one sees what others have committed by then.
 */
async function deleteParts(session: Session, ids: readonly number[]): Promise<OldChunk[]> {
  return session.query<OldChunk>(
    `WITH texts AS (DELETE FROM texts WHERE document = ANY($1::bigint[])),
          fields AS (DELETE FROM fields WHERE document = ANY($1::bigint[])),
          notes AS (DELETE FROM notes USING documents WHERE documents.id = ANY($1::bigint[]) AND notes.uri = documents.uri)
     SELECT label, id, document, vector, context FROM chunks WHERE document = ANY($1::bigint[])`,
    [bigints(ids)],
  );
}

async function upsert(
  session: Session,
  documents: readonly PreparedDocument[],
): Promise<ReadonlyMap<string, { readonly id: number; readonly added: boolean }>> {
  const column = (name: keyof PreparedDocument["columns"]) =>
    texts(documents.map(({ columns }) => columns[name] as string | null));
  // A row that was inserted has no earlier version. In order, as vectors are.
  const rows = await session.query<{ id: number; uri: string; added: boolean }>(
    `INSERT INTO documents (
       uri, title, media_type, source, fingerprint, metadata, anchors, revision, chunk_count, checksum)
     SELECT * FROM unnest(
       $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[],
       $10::bigint[]) AS d (uri)
     ORDER BY uri COLLATE "C"
     ON CONFLICT (uri) DO UPDATE SET
       title = excluded.title, media_type = excluded.media_type, source = excluded.source,
       fingerprint = excluded.fingerprint, metadata = excluded.metadata, anchors = excluded.anchors,
       revision = excluded.revision, chunk_count = excluded.chunk_count, checksum = excluded.checksum
     RETURNING id, uri, xmax = 0 AS added`,
    [
      ...(["uri", "title", "media_type", "source", "fingerprint", "metadata", "anchors", "revision"] as const).map(
        column,
      ),
      integers(documents.map(({ columns }) => columns.chunk_count)),
      bigints(documents.map(({ checksum }) => checksum)),
    ],
  );
  return new Map(rows.map(({ uri, ...row }) => [uri, row]));
}

async function insertParts(
  session: Session,
  documents: readonly PreparedDocument[],
  idOf: (each: PreparedDocument) => number,
): Promise<void> {
  const pieces = documents.flatMap((each) => each.pieces.map((text, piece) => ({ document: idOf(each), piece, text })));
  const fields = documents.flatMap((each) =>
    filterFields(each.document).map((field) => ({ document: idOf(each), ...field })),
  );
  await session.query(
    `WITH texts AS (INSERT INTO texts SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[]))
     INSERT INTO fields SELECT * FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::float8[])`,
    [
      bigints(pieces.map(({ document }) => document)),
      integers(pieces.map(({ piece }) => piece)),
      texts(pieces.map(({ text }) => text)),
      bigints(fields.map(({ document }) => document)),
      texts(fields.map(({ name }) => name)),
      texts(fields.map(({ kind }) => kind)),
      texts(fields.map(({ text }) => text)),
      doubles(fields.map(({ number }) => number)),
    ],
  );
}

export async function removeChunks(session: Session, labels: readonly number[]): Promise<void> {
  if (labels.length === 0) return;
  await session.query(
    `WITH gone AS (
       DELETE FROM postings USING (SELECT label, unnest(words) AS word FROM chunks WHERE label = ANY($1::bigint[])) AS w
       WHERE postings.word = w.word COLLATE "C" AND postings.chunk = w.label RETURNING frequency),
     removed AS (DELETE FROM embeddings WHERE label = ANY($1::bigint[])),
     chunks AS (DELETE FROM chunks WHERE label = ANY($1::bigint[]))
     INSERT INTO totals SELECT -$2::bigint, -coalesce(sum(frequency), 0) FROM gone`,
    [bigints(labels), labels.length],
  );
}

const numberColumns = ["start", "end", "tokens", "parent_start", "parent_end", "line", "page"] as const;

async function moveChunks(
  session: Session,
  chunks: readonly (ChunkColumns & { readonly label: number })[],
): Promise<void> {
  if (chunks.length === 0) return;
  const names = 'start, "end", tokens, parent_start, parent_end, line, page, anchors';
  await session.query(
    `UPDATE chunks SET (${names}) =
       (m.start, m."end", m.tokens, m.parent_start, m.parent_end, m.line, m.page, m.anchors)
     FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[],
       $8::integer[], $9::text[]) AS m (label, ${names})
     WHERE chunks.label = m.label`,
    [
      bigints(chunks.map(({ label }) => label)),
      ...numberColumns.map((name) => integers(chunks.map((chunk) => chunk[name]))),
      texts(chunks.map(({ anchors }) => anchors)),
    ],
  );
}

interface NewChunk {
  readonly chunk: ChunkColumns;
  /** Id of its document. */
  readonly document: number;
  readonly words: ReadonlyMap<string, number>;
}

/** Rows of totals from which they are added up into one. */
const manyTotals = 200;

/** All that there is of new chunks, in one statement: each row finds the label of its chunk by the place of the chunk here. */
async function insertChunks(
  session: Session,
  fresh: readonly NewChunk[],
  embedding: (key: string) => Float32Array,
): Promise<void> {
  const chunks = fresh.map(({ chunk }) => chunk);
  const lengths = fresh.map(({ words }) => [...words.values()].reduce((sum, frequency) => sum + frequency, 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  await session
    .query(
      `WITH given AS MATERIALIZED (
         SELECT * FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
           $7::integer[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
           $15::integer[], $16::vector[])
           WITH ORDINALITY AS c (start, "end", tokens, parent_start, parent_end, line, page, document, id, vector, anchors,
             context, words, frequencies, length, embedding, place)),
       made AS (
         INSERT INTO chunks (
           start, "end", tokens, parent_start, parent_end, line, page, document, id, vector, anchors, context, words)
         SELECT start, "end", tokens, parent_start, parent_end, line, page, document, id, vector, anchors, context,
           string_to_array(words, ' ')
         FROM given ORDER BY place RETURNING label, id),
       labelled AS MATERIALIZED (SELECT made.label, given.* FROM made JOIN given USING (id)),
       embedded AS (INSERT INTO embeddings SELECT label, document, embedding FROM labelled ORDER BY place),
       listed AS (
         INSERT INTO postings SELECT p.word, label, p.frequency, length
         FROM labelled, unnest(string_to_array(words, ' '), string_to_array(frequencies, ' ')::integer[]) AS p (word, frequency)
         ORDER BY p.word COLLATE "C", label),
       -- Rows that another writer adds up at this moment are left to it.
       many AS (DELETE FROM totals WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM totals WHERE (SELECT count(*) FROM totals) > ${manyTotals} FOR UPDATE SKIP LOCKED)) RETURNING *)
       INSERT INTO totals SELECT sum(chunks), sum(words) FROM many HAVING count(*) > 0 UNION ALL SELECT $17, $18`,
      [
        ...numberColumns.map((name) => integers(chunks.map((chunk) => chunk[name]))),
        bigints(fresh.map(({ document }) => document)),
        texts(chunks.map(({ id }) => id)),
        texts(chunks.map(({ vector }) => vector)),
        texts(chunks.map(({ anchors }) => anchors)),
        texts(chunks.map(({ context }) => context)),
        texts(fresh.map(({ words }) => [...words.keys()].join(" "))),
        texts(fresh.map(({ words }) => [...words.values()].join(" "))),
        integers(lengths),
        vectors(
          await session.vectorType(),
          chunks.map(({ vector }) => normalised(embedding(vector))),
        ),
        fresh.length,
        total,
      ],
    )
    .catch((error: unknown) => {
      throw isDuplicate(error) ? usedTwice(error) : error;
    });
}

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

function usedTwice(cause: unknown): OptionsError {
  const detail = (cause as { readonly detail?: string }).detail ?? "";
  const [, id = "the same"] = /\(id\)=\((.*)\)/.exec(detail) ?? [];
  return new OptionsError("options", `Two chunks have the id ${id}. Give every chunk an id of its own`, { cause });
}
