import type { StoreProblem } from "../../../core/ports.js";
import { documentFingerprint } from "../../../text/chunking/chunk-identity.js";
import { checksumOf } from "../../database/checksums.js";
import { decodeVector } from "../../database/columns.js";
import { checkVector, normalised } from "../../database/vectors.js";
import { findAltered, problemsOf } from "../../conversations/checking.js";
import { bigints } from "../../../postgres/binary-parameters.js";
import { originalText } from "../../../postgres/column-text.js";
import { filterFields } from "../filters/filter-fields.js";
import { workOn } from "../postgres-conversations.js";
import { chunkOf, documentOf } from "../reading.js";
import { hasEmbeddings } from "../schema.js";
import type { StoreFacts } from "../store-facts.js";
import { searchOnce } from "../searching/statement.js";
import type { Session } from "../../../postgres/server.js";
import { storedVectors } from "../writing/writing.js";
import {
  type ChunkColumns,
  documentChecksum,
  type DocumentColumns,
  documentId,
  type DocumentId,
  wordsOf,
} from "../stored-document.js";

/** Problems that a check found, and the rows that a repair must mend. */
export interface Findings {
  readonly problems: StoreProblem[];
  /** Ids of damaged documents. */
  readonly broken: Set<DocumentId>;
  /** Ids of intact documents whose derived rows are wrong. */
  readonly misindexed: Set<DocumentId>;
  /** Keys of broken vectors. */
  readonly vectors: Set<string>;
}

type Find = (what: StoreProblem["what"], message: string) => void;

const rowsPerRead = 64;

/** Reads all tables of a store and compares them with their checksums and with each other, in the session's transaction. */
export async function checkTables(
  session: Session,
  { dimension, column }: Pick<StoreFacts, "dimension" | "column">,
  signal: AbortSignal | undefined,
): Promise<Findings> {
  const findings: Findings = { problems: [], broken: new Set(), misindexed: new Set(), vectors: new Set() };
  const found: Find = (what, message) => findings.problems.push({ what, message, repairable: true });
  await session.query("SET LOCAL statement_timeout = 0");
  await checkFacts(session, found);
  await checkVectors(session, dimension, findings.vectors, found, signal);
  await checkDocuments(session, column, findings, found, signal);
  await checkOrphans(session, found);
  findings.problems.push(...problemsOf(await workOn(session, findAltered())));
  return findings;
}

async function checkFacts(session: Session, found: Find): Promise<void> {
  const facts = await session.query<{ name: string; value: string; checksum: number }>("SELECT * FROM meta");
  const altered = facts.filter(({ name, value, checksum }) => checksumOf([name, value]) !== checksum);
  if (altered.length > 0) {
    const names = altered.map(({ name }) => name).join(", ");
    found(
      "settings",
      `The settings are not those that were written (${names}): a repair accepts the facts of the model and takes the others out`,
    );
  }
  for await (const { uri } of alteredNotes(session)) {
    found("notes", `${originalText(uri)}: what earlier runs remembered of it was altered: the next one reads it again`);
  }
}

/** Notes that are not as they were written. */
export async function* alteredNotes(
  session: Session,
): AsyncGenerator<{ readonly document: DocumentId; readonly uri: string }> {
  for (let after: DocumentId | undefined; ;) {
    const rows = await session.query<{ document: DocumentId; uri: string; note: string; checksum: number }>(
      "SELECT * FROM notes WHERE $1::bigint IS NULL OR document > $1::bigint ORDER BY document LIMIT $2",
      [after === undefined ? null : String(after), rowsPerRead],
    );
    if (rows.length === 0) return;
    after = rows.at(-1)!.document;
    yield* rows.filter(({ uri, note, checksum }) => checksumOf([uri, note]) !== checksum);
  }
}

async function checkVectors(
  session: Session,
  dimension: number | undefined,
  broken: Set<string>,
  found: Find,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let after = ""; ;) {
    signal?.throwIfAborted();
    const rows = await session.query<{ key: string; data: Buffer; checksum: number }>(
      "SELECT * FROM vectors WHERE key > $1 ORDER BY key LIMIT $2",
      [after, rowsPerRead],
    );
    if (rows.length === 0) return;
    for (const { key, data, checksum } of rows) {
      after = key;
      try {
        if (checksumOf([key, data]) !== checksum) {
          throw new Error(`The vector of text ${key} is not as it was written: its checksum differs`);
        }
        checkVector(decodeVector(data), dimension ?? 0, `text ${key}`);
      } catch (error) {
        broken.add(key);
        found("vectors", (error as Error).message);
      }
    }
  }
}

interface DocumentRow extends DocumentColumns {
  readonly id: DocumentId;
  readonly checksum: number;
  readonly pieces: readonly string[] | null;
}

interface ChunkRow extends ChunkColumns {
  readonly document: DocumentId;
  readonly label: number;
  readonly words: readonly string[];
  readonly embedding: readonly number[] | null;
  /** Id of the chunk as its embedding has it. */
  readonly embedded: string | null;
}

interface PostingRow {
  readonly document: DocumentId;
  readonly chunk: number;
  readonly word: string;
  readonly frequency: number;
  readonly length: number;
}

/** A chunk with the rows of other tables that belong to it. */
interface WholeChunk extends ChunkRow {
  readonly vectorData: Float32Array | undefined;
  readonly postings: ReadonlyMap<string, PostingRow>;
}

async function checkDocuments(
  session: Session,
  column: string,
  findings: Findings,
  found: Find,
  signal: AbortSignal | undefined,
): Promise<void> {
  const areEmbedded = await hasEmbeddings(session);
  for (let after: DocumentId | undefined; ;) {
    signal?.throwIfAborted();
    const rows = await session.query<DocumentRow>(
      `SELECT d.*, (SELECT array_agg(text ORDER BY piece) FROM texts WHERE document = d.id) AS pieces
       FROM documents d WHERE $1::bigint IS NULL OR id > $1::bigint ORDER BY id LIMIT $2`,
      [after === undefined ? null : String(after), rowsPerRead],
    );
    if (rows.length === 0) return;
    after = rows.at(-1)!.id;
    const ids = bigints(rows.map(({ id }) => id));
    const chunks = !areEmbedded
      ? []
      : await session.query<ChunkRow>(
          `SELECT c.*, e.${column}::real[] AS embedding, e.id AS embedded FROM chunks c
           LEFT JOIN embeddings e ON e.label = c.label AND e.document = c.document WHERE c.document = ANY($1::bigint[])`,
          [ids],
        );
    const postings = await session.query<PostingRow>(
      `SELECT p.* FROM chunks c JOIN postings p ON p.document = c.document AND p.chunk = c.label AND p.word = ANY(c.words)
       WHERE c.document = ANY($1::bigint[])`,
      [ids],
    );
    const data = await storedVectors(
      session,
      chunks.map(({ vector }) => vector),
    );
    const fields = await session.query<{ document: DocumentId; fields: readonly string[] }>(
      `SELECT document, array_agg(row_to_json(f)::jsonb - 'document' - 'facts') AS fields FROM fields f
       WHERE document = ANY($1::bigint[]) GROUP BY document`,
      [ids],
    );
    const chunksOf = new Map(rows.map(({ id }): [DocumentId, WholeChunk[]] => [id, []]));
    const keyOf = (document: DocumentId, label: number) => `${document} ${label}`;
    const postingsOf = new Map(
      chunks.map((chunk) => [keyOf(chunk.document, chunk.label), new Map<string, PostingRow>()]),
    );
    for (const posting of postings) postingsOf.get(keyOf(posting.document, posting.chunk))!.set(posting.word, posting);
    for (const chunk of chunks) {
      const own = postingsOf.get(keyOf(chunk.document, chunk.label))!;
      chunksOf.get(chunk.document)!.push({ ...chunk, vectorData: data.get(chunk.vector), postings: own });
    }
    const fieldsOf = new Map(fields.map((row) => [row.document, row.fields]));
    for (const row of rows) checkDocument(row, chunksOf.get(row.id)!, fieldsOf.get(row.id) ?? [], findings, found);
  }
}

function checkDocument(
  row: DocumentRow,
  chunks: readonly WholeChunk[],
  fields: readonly unknown[],
  { broken, misindexed, vectors }: Findings,
  found: Find,
): void {
  const uri = originalText(row.uri);
  const pieces = row.pieces ?? [];
  const lost = chunks.filter(({ vector, vectorData }) => !vectorData || vectors.has(vector)).length;
  if (chunks.length !== row.chunk_count) {
    found("counts", `${uri}: has ${chunks.length} chunks instead of ${row.chunk_count}`);
  } else if (documentChecksum(row, chunks, pieces) !== row.checksum) {
    found("documents", `${uri}: the document or its chunks are not as they were written: the checksum differs`);
  } else if (lost > 0) {
    found("orphans", `${uri}: ${lost} of its chunks have no vector`);
  } else {
    const document = documentOf(row, originalText(pieces.join("")));
    const whole = chunks.map((chunk) => chunkOf(chunk, uri, document.text.slice(chunk.start, chunk.end)));
    if (documentFingerprint(document, whole) !== row.fingerprint || documentId(uri) !== row.id) {
      found("keys", `${uri}: the document or its chunks are not those of its fingerprint`);
      broken.add(row.id);
      return;
    }
    const canonical = (some: readonly unknown[]) => some.map(sortedFields).toSorted().join();
    if (canonical(fields) !== canonical(filterFields(document))) {
      found("fields", `${uri}: what filters test differs from the document`);
      misindexed.add(row.id);
    }
    if (chunks.some((chunk, index) => !hasItsWords(chunk, wordsOf(whole[index]!)))) {
      found("lexical", `${uri}: the words that searches find differ from the text`);
      misindexed.add(row.id);
    }
    if (chunks.some((chunk) => !isEmbedded(chunk))) {
      found("graph", `${uri}: the vectors that searches compare differ from those that were written`);
      misindexed.add(row.id);
    }
    return;
  }
  broken.add(row.id);
}

function sortedFields(field: unknown): string {
  const { name, kind, text = null, number = null } = field as Record<string, unknown>;
  return JSON.stringify([name, kind, text, number]);
}

function hasItsWords({ words, postings }: WholeChunk, expected: ReadonlyMap<string, number>): boolean {
  const length = [...expected.values()].reduce((sum, frequency) => sum + frequency, 0);
  return (
    words.join(" ") === [...expected.keys()].join(" ") &&
    [...expected].every(([word, frequency]) => {
      const posting = postings.get(word);
      return posting?.frequency === frequency && posting.length === length;
    })
  );
}

/** Half-precision floats have 11 bits. */
const maxRounding = 2 ** -10;

function isEmbedded({ id, embedded, embedding, vectorData }: WholeChunk): boolean {
  if (!embedding || embedded !== id) return false;
  const expected = normalised(vectorData!);
  return expected.every((component, index) => Math.abs(component - embedding[index]!) <= maxRounding);
}

/** Rows of other tables that no document or chunk has, and totals that do not add up. */
export const orphans = [
  "chunks WHERE NOT EXISTS (SELECT FROM documents WHERE id = chunks.document)",
  "texts WHERE NOT EXISTS (SELECT FROM documents WHERE id = texts.document)",
  "fields WHERE NOT EXISTS (SELECT FROM documents WHERE id = fields.document)",
  "postings WHERE NOT EXISTS (SELECT FROM chunks WHERE chunks.document = postings.document AND label = chunk AND word = ANY(words))",
] as const;

async function checkOrphans(session: Session, found: Find): Promise<void> {
  for (const orphan of orphans) {
    const [{ count }] = (await session.query<{ count: number }>(`SELECT count(*) FROM ${orphan}`)) as [
      { count: number },
    ];
    if (count > 0) found("orphans", `${count} rows of ${orphan.split(" ")[0]} belong to nothing`);
  }
  const [{ counted }] = (await session.query<{ counted: boolean }>(
    `SELECT coalesce(sum(chunks), 0) = (SELECT count(*) FROM chunks)
       AND coalesce(sum(words), 0) = (SELECT coalesce(sum(frequency), 0) FROM postings) AS counted FROM totals`,
  )) as [{ counted: boolean }];
  if (!counted) found("lexical", "The totals of chunks and words do not add up");
}

/** Share of the exact ten nearest chunks that searches find, for chunks of the store as questions. */
export async function measureRecall(
  session: Session,
  sample: number,
  { precision, column }: Pick<StoreFacts, "precision" | "column">,
): Promise<number | undefined> {
  const questions = await session.query<{ embedding: readonly number[] }>(
    `SELECT ${column}::real[] AS embedding FROM embeddings ORDER BY hashint8(document), label LIMIT $1`,
    [sample],
  );
  let [hits, expected] = [0, 0];
  for (const { embedding } of questions) {
    const dense = { vector: Float32Array.from(embedding), count: 10, precision, column };
    const exact = (await searchOnce(session, { dense: { ...dense, exact: true } })).dense;
    const found = new Set((await searchOnce(session, { dense })).dense.map(({ id }) => id));
    expected += exact.length;
    hits += exact.filter(({ id }) => found.has(id)).length;
  }
  return expected === 0 ? undefined : hits / expected;
}
