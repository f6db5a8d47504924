import { OptionsError } from "../../../core/errors.js";
import type { WrittenDocument } from "../../../core/ports.js";
import { checksumOf } from "../../database/checksums.js";
import { decodeVector, encodeVector } from "../../database/columns.js";
import { normalised } from "../../database/vectors.js";
import { bigints, byteStrings, doubles, integers, texts, vectors } from "../../../postgres/binary-parameters.js";
import { columnText, originalText } from "../../../postgres/column-text.js";
import { filterFields } from "../filters/filter-fields.js";
import type { Session } from "../../../postgres/server.js";
import { type ChunkColumns, documentId, type DocumentId, type PreparedDocument } from "../stored-document.js";

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
  const checksums = data.map((bytes, index) => checksumOf([keys[index]!, bytes]));
  // In order, so that two writers of the same texts wait for each other and never in a circle.
  const rows = await session.query<{ key: string; data: Buffer | null }>(
    `WITH fresh AS (
       INSERT INTO vectors SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS v (key, data, checksum)
       ORDER BY key COLLATE "C" ON CONFLICT DO NOTHING RETURNING key)
     SELECT key, NULL::bytea AS data FROM fresh
     UNION ALL SELECT key, data FROM vectors WHERE key = ANY($4::text[]) AND key NOT IN (SELECT key FROM fresh)`,
    [texts(keys), byteStrings(data), bigints(checksums), texts(wanted.map(columnText))],
  );
  const fresh = new Set(rows.flatMap(({ key, data: bytes }) => (bytes ? [] : [key])));
  const stored = new Map(rows.flatMap(({ key, data: bytes }) => (bytes ? [[key, decodeVector(bytes)] as const] : [])));
  // The statement above waited for vectors that another writer has just committed, and cannot see them yet.
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

/** A chunk in all tables: its document, and its number there. */
export interface ChunkKey {
  readonly document: DocumentId;
  readonly label: number;
}

interface OldChunk extends ChunkKey {
  readonly id: string;
  readonly vector: string;
  readonly context: string;
  readonly facts: string | null;
}

/**
 * Writes each document in place of its earlier version. Chunks whose text did not change keep their vector and words.
 *
 * @param column of the vectors that searches compare.
 */
export async function writeDocuments(
  session: Session,
  documents: readonly PreparedDocument[],
  embedding: (key: string) => Float32Array,
  column: string,
): Promise<WrittenDocument[]> {
  if (documents.length === 0) return [];
  const stored = await upsert(session, documents);
  const updated = [...stored].flatMap(([id, before]) => (before === "none" ? [] : [id]));
  const old = new Map(updated.map((id) => [id, new Map<string, OldChunk>()]));
  if (updated.length > 0) {
    for (const chunk of await deleteParts(session, updated)) old.get(chunk.document)!.set(chunk.id, chunk);
  }
  const fresh: NewChunk[] = [];
  const moved: MovedChunk[] = [];
  for (const currentDocument of documents) {
    const { id, facts } = currentDocument;
    const before = old.get(id);
    // Numbers of chunks that go are not given again, so that no statement depends on their order.
    let next = 1 + Math.max(-1, ...[...(before?.values() ?? [])].map(({ label }) => label));
    for (const [at, chunk] of currentDocument.chunks.entries()) {
      const same = before?.get(chunk.id);
      if (same?.vector === chunk.vector && same.context === chunk.context && same.facts === facts) {
        before!.delete(chunk.id);
        moved.push({ ...chunk, document: id, label: same.label });
      } else fresh.push({ chunk, facts, document: id, label: next++, words: currentDocument.wordsOf(at) });
    }
  }
  await removeChunks(
    session,
    [...old.values()].flatMap((left) => [...left.values()]),
  );
  refuseRepeatedIds(fresh);
  await insertParts(session, documents, fresh);
  await moveChunks(session, moved);
  if (fresh.length > 0) await insertChunks(session, fresh, embedding, column);
  const withNewChunks = new Set(fresh.map(({ document }) => document));
  return documents.map((document) => {
    const { id } = document;
    const before = stored.get(id)!;
    const deletedChunks = old.get(id)?.size ?? 0;
    const isSame = before === "same" && deletedChunks === 0 && !withNewChunks.has(id);
    const outcome = before === "none" ? "added" : isSame ? "unchanged" : "updated";
    return { uri: document.document.uri, outcome, chunks: document.chunks.length, deletedChunks };
  });
}

export async function writeNotes(session: Session, notes: ReadonlyMap<string, string>): Promise<void> {
  if (notes.size === 0) return;
  const [uris, values] = [[...notes.keys()].map(columnText), [...notes.values()].map(columnText)];
  await session.query(
    `INSERT INTO notes (document, uri, note, checksum)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) AS n (document)
     ORDER BY document
     ON CONFLICT (document) DO UPDATE SET note = excluded.note, checksum = excluded.checksum`,
    [
      bigints([...notes.keys()].map(documentId)),
      texts(uris),
      texts(values),
      bigints(uris.map((uri, index) => checksumOf([uri, values[index]!]))),
    ],
  );
}

export async function deleteDocuments(
  session: Session,
  uris: readonly string[],
): Promise<{ documents: number; chunks: number }> {
  // Deleting locks a row as FOR UPDATE does, which a cluster allows for one shard at a time only.
  const found = await session.query<{ id: DocumentId }>(
    "DELETE FROM documents WHERE id = ANY($1::bigint[]) AND uri = ANY($2::text[]) RETURNING id",
    [bigints(uris.map(documentId)), texts(uris.map(columnText))],
  );
  if (found.length === 0) return { documents: 0, chunks: 0 };
  const chunks = await deleteParts(
    session,
    found.map(({ id }) => id),
  );
  await removeChunks(session, chunks);
  return { documents: found.length, chunks: chunks.length };
}

/**
 * Deletes what documents have beside their rows and their chunks, which it returns. What was noted about a document does not
 * hold any more. The rows have to be locked before, by an earlier statement: this one sees what others have committed by then.
 */
async function deleteParts(session: Session, ids: readonly DocumentId[]): Promise<OldChunk[]> {
  return session.query<OldChunk>(
    `WITH texts AS (DELETE FROM texts WHERE document = ANY($1::bigint[])),
          fields AS (DELETE FROM fields WHERE document = ANY($1::bigint[])),
          notes AS (DELETE FROM notes WHERE document = ANY($1::bigint[]))
     SELECT label, id, document, vector, context, facts::text FROM chunks WHERE document = ANY($1::bigint[])`,
    [bigints(ids)],
  );
}

/** The earlier version of a document: none, another one, or one of the same fingerprint. */
type Before = "none" | "other" | "same";

/** Writes the rows of documents. */
async function upsert(
  session: Session,
  documents: readonly PreparedDocument[],
): Promise<ReadonlyMap<DocumentId, Before>> {
  // Only the statement that locks a row sees what another writer committed to it while this one waited, so that one compares.
  const changed = await upsertRows(session, documents, "documents.fingerprint <> excluded.fingerprint");
  const rows = new Map<DocumentId, Before>(changed.map(({ id, added }) => [id, added ? "none" : "other"]));
  const same = documents.filter(({ id }) => !rows.has(id));
  // They are locked all the same. What the fingerprint leaves out, such as the source, may differ.
  for (const { id } of same.length > 0 ? await upsertRows(session, same, "true") : []) rows.set(id, "same");
  const refused = documents.find(({ id }) => !rows.has(id));
  if (refused) {
    const { uri } = refused.document;
    throw new OptionsError("options", `${uri}: another document's uri has the same 64 bits of its SHA-256. Rename one`);
  }
  return rows;
}

/** @param condition on `documents`, the stored row, and `excluded`, the new one: rows that fail it are locked and left as they are. */
async function upsertRows(
  session: Session,
  documents: readonly PreparedDocument[],
  condition: string,
): Promise<readonly { readonly id: DocumentId; readonly added: boolean }[]> {
  const column = (name: keyof PreparedDocument["columns"]) =>
    texts(documents.map(({ columns }) => columns[name] as string | null));
  // A row that was inserted has no earlier version. In order, as vectors are.
  return session.query<{ id: DocumentId; added: boolean }>(
    `INSERT INTO documents (
       id, uri, title, media_type, source, fingerprint, metadata, anchors, revision, facts, chunk_count, checksum)
     SELECT id, uri, title, media_type, source, fingerprint, metadata, anchors, revision, facts::tsvector, chunk_count, checksum
     FROM unnest(
       $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
       $10::text[], $11::integer[], $12::bigint[])
       AS d (id, uri, title, media_type, source, fingerprint, metadata, anchors, revision, facts, chunk_count, checksum)
     ORDER BY id
     ON CONFLICT (id) DO UPDATE SET
       title = excluded.title, media_type = excluded.media_type, source = excluded.source,
       fingerprint = excluded.fingerprint, metadata = excluded.metadata, anchors = excluded.anchors,
       revision = excluded.revision, facts = excluded.facts, chunk_count = excluded.chunk_count, checksum = excluded.checksum
     WHERE documents.uri = excluded.uri AND ${condition}
     RETURNING id, xmax = 0 AS added`,
    [
      bigints(documents.map(({ id }) => id)),
      ...(["uri", "title", "media_type", "source", "fingerprint", "metadata", "anchors", "revision"] as const).map(
        column,
      ),
      texts(documents.map(({ facts }) => facts)),
      integers(documents.map(({ columns }) => columns.chunk_count)),
      bigints(documents.map(({ checksum }) => checksum)),
    ],
  );
}

/** No index of a cluster holds the chunks of different documents apart, so that this statement also looks their ids up. */
async function insertParts(
  session: Session,
  documents: readonly PreparedDocument[],
  fresh: readonly NewChunk[],
): Promise<void> {
  const pieces = documents.flatMap(({ id, facts, pieces: own }) =>
    own.map((text, piece) => ({ document: id, piece, text, facts })),
  );
  const fields = documents.flatMap(({ id, document, facts }) =>
    filterFields(document).map((field) => ({ document: id, facts, ...field })),
  );
  const [used] = await session.query<{ id: string }>(
    `WITH texts AS (
         INSERT INTO texts (document, piece, text, facts)
         SELECT document, piece, text, facts::tsvector
         FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[]) AS t (document, piece, text, facts)),
       fields AS (
         INSERT INTO fields (document, name, kind, text, number, facts)
         SELECT document, name, kind, text, number, facts::tsvector
         FROM unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::float8[], $10::text[])
           AS f (document, name, kind, text, number, facts))
     SELECT id FROM chunks WHERE id = ANY($11::text[]) LIMIT 1`,
    [
      bigints(pieces.map(({ document }) => document)),
      integers(pieces.map(({ piece }) => piece)),
      texts(pieces.map(({ text }) => text)),
      texts(pieces.map(({ facts }) => facts)),
      bigints(fields.map(({ document }) => document)),
      texts(fields.map(({ name }) => name)),
      texts(fields.map(({ kind }) => kind)),
      texts(fields.map(({ text }) => text)),
      doubles(fields.map(({ number }) => number)),
      texts(fields.map(({ facts }) => facts)),
      texts(fresh.map(({ chunk }) => chunk.id)),
    ],
  );
  if (used) throw usedTwice(used.id);
}

export async function removeChunks(session: Session, chunks: readonly ChunkKey[]): Promise<void> {
  if (chunks.length === 0) return;
  const isGone = (table: string, label: string) => `${table}.document = g.document AND ${table}.${label} = g.label`;
  await session.query(
    `WITH g AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::integer[]) AS g (document, label)),
     gone AS (
       DELETE FROM postings USING chunks, g
       WHERE ${isGone("chunks", "label")} AND postings.document = chunks.document AND postings.chunk = chunks.label
         AND postings.word = ANY(chunks.words)
       RETURNING frequency),
     removed AS (DELETE FROM embeddings USING g WHERE ${isGone("embeddings", "label")}),
     chunks AS (DELETE FROM chunks USING g WHERE ${isGone("chunks", "label")})
     INSERT INTO totals SELECT -$3::bigint, -coalesce(sum(frequency), 0) FROM gone`,
    [...keyColumns(chunks), chunks.length],
  );
}

const keyColumns = (chunks: readonly ChunkKey[]) => [
  bigints(chunks.map(({ document }) => document)),
  integers(chunks.map(({ label }) => label)),
];

const numberColumns = ["start", "end", "tokens", "parent_start", "parent_end", "line", "page"] as const;

type MovedChunk = ChunkColumns & ChunkKey;

async function moveChunks(session: Session, chunks: readonly MovedChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const names = 'start, "end", tokens, parent_start, parent_end, line, page, anchors';
  await session.query(
    `UPDATE chunks SET (${names}) =
       (m.start, m."end", m.tokens, m.parent_start, m.parent_end, m.line, m.page, m.anchors)
     FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[],
       $8::integer[], $9::integer[], $10::text[]) AS m (document, label, ${names})
     WHERE chunks.document = m.document AND chunks.label = m.label`,
    [
      ...keyColumns(chunks),
      ...numberColumns.map((name) => integers(chunks.map((chunk) => chunk[name]))),
      texts(chunks.map(({ anchors }) => anchors)),
    ],
  );
}

interface NewChunk extends ChunkKey {
  readonly chunk: ChunkColumns;
  readonly words: ReadonlyMap<string, number>;
  readonly facts: string | null;
}

/** Rows of totals from which they are added up into one. */
const manyTotals = 200;

/** All that there is of new chunks, in one statement. */
async function insertChunks(
  session: Session,
  fresh: readonly NewChunk[],
  embedding: (key: string) => Float32Array,
  column: string,
): Promise<void> {
  const chunks = fresh.map(({ chunk }) => chunk);
  const lengths = fresh.map(({ words }) => [...words.values()].reduce((sum, frequency) => sum + frequency, 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  await session.query(
    `WITH given AS MATERIALIZED (
       SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
         $7::integer[], $8::integer[], $9::integer[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
         $15::text[], $16::integer[], $17::vector[], $18::text[])
         WITH ORDINALITY AS c (document, label, start, "end", tokens, parent_start, parent_end, line, page, id, vector, anchors,
           context, words, frequencies, length, embedding, facts, place)),
     made AS (
       INSERT INTO chunks (
         document, label, start, "end", tokens, parent_start, parent_end, line, page, id, vector, anchors, context, words, facts)
       SELECT document, label, start, "end", tokens, parent_start, parent_end, line, page, id, vector, anchors, context,
         string_to_array(words, ' '), facts::tsvector
       FROM given ORDER BY place),
     embedded AS (
       INSERT INTO embeddings (document, label, id, ${column}, facts)
       SELECT document, label, id, embedding, facts::tsvector FROM given ORDER BY place),
     listed AS (
       INSERT INTO postings (word, document, chunk, frequency, length, facts)
       SELECT p.word, document, label, p.frequency, length, facts::tsvector
       FROM given, unnest(string_to_array(words, ' '), string_to_array(frequencies, ' ')::integer[]) AS p (word, frequency)
       ORDER BY p.word COLLATE "C", document, label),
     -- Rows that another writer adds up at this moment are left to it.
     many AS (DELETE FROM totals WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM totals WHERE (SELECT count(*) FROM totals) > ${manyTotals} FOR UPDATE SKIP LOCKED)) RETURNING *)
     INSERT INTO totals SELECT sum(chunks), sum(words) FROM many HAVING count(*) > 0 UNION ALL SELECT $19, $20`,
    [
      ...keyColumns(fresh),
      ...numberColumns.map((name) => integers(chunks.map((chunk) => chunk[name]))),
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
      texts(fresh.map(({ facts }) => facts)),
      fresh.length,
      total,
    ],
  );
}

function refuseRepeatedIds(fresh: readonly NewChunk[]): void {
  const ids = new Set<string>();
  const repeated = fresh.find(({ chunk: { id } }) => ids.size === ids.add(id).size);
  if (repeated) throw usedTwice(repeated.chunk.id);
}

function usedTwice(id: string): OptionsError {
  return new OptionsError("options", `Two chunks have the id ${originalText(id)}. Give every chunk an id of its own`);
}
