import type { Filter } from "../../core/filter.js";
import type { DocumentWrite, Found, StoreCounts, StoredDocumentInfo } from "../../core/ports.js";
import type { Anchor, Chunk, Document, Hit, Metadata, Revision } from "../../core/types.js";
import { storedPlace } from "../../text/blocks/places.js";
import { checksumOf } from "../database/checksums.js";
import { bigints, texts } from "../../postgres/binary-parameters.js";
import { columnText, originalText } from "../../postgres/column-text.js";
import { filterSql, Parameters } from "./filters/filter-sql.js";
import type { Session } from "../../postgres/server.js";
import { type ChunkColumns, type DocumentColumns, documentId, pieceLength } from "./stored-document.js";

type ChunkRow = Omit<ChunkColumns, "vector">;

const chunkColumns = `c.id, c.start, c."end", c.tokens, c.parent_start, c.parent_end, c.line, c.page, c.anchors, c.context`;

/** A document by uri, if the filter admits it. */
export async function readDocument(session: Session, uri: string, filter?: Filter): Promise<Document | undefined> {
  const parameters = new Parameters();
  const [row] = await session.query<DocumentColumns & { readonly text: string | null }>(
    `SELECT d.*, (SELECT string_agg(text, '' ORDER BY piece) FROM texts WHERE document = d.id) AS text
     FROM documents d WHERE id = ${parameters.add(String(documentId(uri)))}::bigint AND uri = ${parameters.add(columnText(uri))}
       AND ${where(filter, "d.id", parameters)}`,
    parameters.values,
  );
  return row && documentOf(row, originalText(row.text ?? ""));
}

export function documentOf(row: DocumentColumns, text: string): Document {
  return {
    uri: originalText(row.uri),
    text,
    ...(row.title !== null && { title: originalText(row.title) }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Metadata }),
    ...(row.media_type !== null && { mediaType: originalText(row.media_type) }),
    ...(row.anchors !== null && { anchors: JSON.parse(row.anchors) as Anchor[] }),
    ...(row.source !== null && { source: originalText(row.source) }),
    ...(row.revision !== null && { revision: JSON.parse(row.revision) as Revision }),
  };
}

export async function readDocumentWithChunks(session: Session, uri: string): Promise<DocumentWrite | undefined> {
  const document = await readDocument(session, uri);
  if (!document) return undefined;
  const rows = await session.query<ChunkRow>(
    `SELECT ${chunkColumns} FROM chunks c WHERE document = $1::bigint ORDER BY start, "end", c.id`,
    [String(documentId(uri))],
  );
  return { document, chunks: rows.map((row) => chunkOf(row, uri, document.text.slice(row.start, row.end))) };
}

export interface WantedDocuments {
  readonly uris?: readonly string[];
  readonly source?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** Reads documents without their texts, in byte order of their uris. */
export async function readInfos(
  session: Session,
  { uris, source, after, limit }: WantedDocuments,
  filter?: Filter,
): Promise<StoredDocumentInfo[]> {
  const parameters = new Parameters();
  const conditions = [
    ...(uris === undefined ? [] : [`d.id = ANY(${parameters.add(bigints(uris.map(documentId)))}::bigint[])`]),
    ...(source === undefined ? [] : [`source = ${parameters.add(columnText(source))}`]),
    ...(after === undefined ? [] : [`uri > ${parameters.add(columnText(after))}`]),
    where(filter, "d.id", parameters),
  ];
  const rows = await session.query<Pick<DocumentColumns, "uri" | "title" | "source" | "fingerprint" | "chunk_count">>(
    `SELECT uri, title, source, fingerprint, chunk_count FROM documents d WHERE ${conditions.join(" AND ")}
     ORDER BY uri LIMIT ${parameters.add(limit ?? null)}`,
    parameters.values,
  );
  return rows.map((row) => ({
    uri: originalText(row.uri),
    ...(row.title !== null && { title: originalText(row.title) }),
    ...(row.source !== null && { source: originalText(row.source) }),
    fingerprint: row.fingerprint,
    chunks: row.chunk_count,
  }));
}

/** The stored chunks that the filter admits, in the requested order. */
export async function readHits(session: Session, found: readonly Found[], filter?: Filter): Promise<Hit[]> {
  if (found.length === 0) return [];
  const parameters = new Parameters();
  const rows = await session.query<
    ChunkRow & Pick<DocumentColumns, "uri" | "title" | "metadata"> & { readonly text: string | null }
  >(
    `SELECT ${chunkColumns}, d.uri, d.title, d.metadata,
       (SELECT string_agg(text, '' ORDER BY piece) FROM texts WHERE document = d.id
          AND piece BETWEEN c.start / ${pieceLength} AND greatest(c.start, c."end" - 1) / ${pieceLength}) AS text
     FROM chunks c JOIN documents d ON d.id = c.document
     WHERE c.id = ANY(${parameters.add(texts(found.map(({ chunkId }) => columnText(chunkId))))}::text[])
       AND ${where(filter, "d.id", parameters)}`,
    parameters.values,
  );
  const byId = new Map(rows.map((row) => [originalText(row.id), row]));
  return found.flatMap(({ chunkId, score, placements }): Hit[] => {
    const row = byId.get(chunkId);
    if (!row) return [];
    const uri = originalText(row.uri);
    const before = row.start - (row.start % pieceLength);
    const text = originalText(row.text ?? "").slice(row.start - before, row.end - before);
    return [
      {
        score,
        placements,
        chunk: chunkOf(row, uri, text),
        uri,
        ...(row.title !== null && { title: originalText(row.title) }),
        ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Metadata }),
        ...storedPlace(row),
      },
    ];
  });
}

export function chunkOf(row: Omit<ChunkRow, "line" | "page" | "anchors">, uri: string, text: string): Chunk {
  const { start, end, tokens, parent_start: parentStart, parent_end: parentEnd } = row;
  return {
    id: originalText(row.id),
    documentId: uri,
    start,
    end,
    text,
    context: originalText(row.context),
    tokens,
    ...(parentStart !== null && { parent: { start: parentStart, end: parentEnd! } }),
  };
}

export async function readNotes(session: Session, uris: readonly string[]): Promise<Map<string, string>> {
  const rows = await session.query<{ uri: string; note: string; checksum: number }>(
    "SELECT * FROM notes WHERE document = ANY($1::bigint[])",
    [bigints(uris.map(documentId))],
  );
  // An altered note could keep a changed document from being read. Without it, all is read.
  const intact = rows.filter(({ uri, note, checksum }) => checksumOf([uri, note]) === checksum);
  return new Map(intact.map(({ uri, note }) => [originalText(uri), originalText(note)]));
}

export async function readCounts(session: Session): Promise<StoreCounts> {
  const [counts] = await session.query<StoreCounts>(
    `SELECT (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM chunks) AS chunks,
            (SELECT count(*) FROM vectors) AS vectors`,
  );
  return counts!;
}

function where(filter: Filter | undefined, column: string, parameters: Parameters): string {
  return filter ? filterSql(filter, column, "find", parameters) : "true";
}
