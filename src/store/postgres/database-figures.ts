import type { CollectionFigures } from "../collection-figures.js";
import { originalText } from "../../postgres/column-text.js";
import type { Session } from "../../postgres/server.js";
import { existingServer } from "./prepared-server.js";
import { storedVectors } from "./writing/writing.js";

/** Reads the figures of the store in a database, which must exist, with at most `sampleSize` chunks and their vectors. */
export async function databaseFigures(url: string, sampleSize: number): Promise<CollectionFigures> {
  const { server } = await existingServer(url);
  try {
    return await server.read((session) => readFigures(session, sampleSize));
  } finally {
    await server.close();
  }
}

/** The nodes of a cluster count and choose: no more than the counts and the sample leave them. */
async function readFigures(session: Session, sampleSize: number): Promise<CollectionFigures> {
  const counted = async (column: string, table: string) =>
    session.query<Counted>(`SELECT ${column} AS value, count(*) AS count FROM ${table} GROUP BY ${column} ORDER BY 1`);
  const rows = await session.query<{ uri: string; line: number | null; vector: string }>(
    `SELECT uri, line, vector FROM chunks c JOIN documents d ON d.id = c.document
     ORDER BY hashint8(c.document # c.label), c.document, c.label LIMIT $1`,
    [sampleSize],
  );
  const vectors = await storedVectors(
    session,
    rows.map(({ vector }) => vector),
  );
  return {
    chunkTokens: mixed(await counted("tokens", "chunks")),
    chunksOfDocuments: mixed(await counted("chunk_count", "documents WHERE chunk_count > 0")),
    sample: rows.map(({ uri, line, vector }) => ({ uri: originalText(uri), line, vector: vectors.get(vector)! })),
  };
}

interface Counted {
  readonly value: number;
  readonly count: number;
}

/** Each value as often as it was counted. Documents have no order here, so that values of one size must not follow one another. */
function mixed(counted: readonly Counted[]): number[] {
  const values = counted.flatMap(({ value, count }) => Array.from({ length: count }, () => value));
  const step = 0.618_033_988_75;
  const places = values.map((value, index) => ({ value, place: (index * step) % 1 }));
  return places.toSorted((one, other) => one.place - other.place).map(({ value }) => value);
}
