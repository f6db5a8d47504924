import { type CollectionFigures, evenSample } from "../collection-figures.js";
import { decodeVector } from "../database/columns.js";
import { bigints } from "./columns/binary-parameters.js";
import { originalText } from "./columns/column-text.js";
import type { Session } from "./connection/server.js";
import { postgresStoreOptions } from "./options.js";
import { openShard } from "./sharding/shards.js";

/**
 * Reads the figures of the store in databases, which must exist, with at most `sampleSize` chunks and their vectors. Those of
 * several servers follow one another, for nobody knows what was written first.
 */
export async function databaseFigures(addresses: readonly string[], sampleSize: number): Promise<CollectionFigures> {
  const options = postgresStoreOptions.parse({});
  const parts: CollectionFigures[] = [];
  for (const url of addresses) {
    const { server } = await openShard(url, `"${options.schema}"`, { ...options, create: false });
    try {
      // Each has about as many documents as the others.
      parts.push(await server.read((session) => readFigures(session, Math.ceil(sampleSize / addresses.length))));
    } finally {
      await server.close();
    }
  }
  return {
    chunkTokens: parts.flatMap(({ chunkTokens }) => chunkTokens),
    chunksOfDocuments: parts.flatMap(({ chunksOfDocuments }) => chunksOfDocuments),
    sample: parts.flatMap(({ sample }) => sample),
  };
}

async function readFigures(session: Session, sampleSize: number): Promise<CollectionFigures> {
  const chunks = await session.query<{ label: number; tokens: number }>(
    "SELECT label, tokens FROM chunks ORDER BY label",
  );
  const documents = await session.query<{ chunks: number }>(
    "SELECT count(*) AS chunks FROM chunks GROUP BY document ORDER BY min(label)",
  );
  const labels = evenSample(
    chunks.map(({ label }) => label),
    sampleSize,
  );
  const sample = await session.query<{ uri: string; line: number | null; data: Buffer }>(
    `SELECT uri, line, data FROM chunks
     JOIN documents ON documents.id = chunks.document JOIN vectors ON key = chunks.vector
     WHERE label = ANY($1::bigint[]) ORDER BY label`,
    [bigints(labels)],
  );
  return {
    chunkTokens: chunks.map(({ tokens }) => tokens),
    chunksOfDocuments: documents.map((row) => row.chunks),
    sample: sample.map(({ uri, line, data }) => ({ uri: originalText(uri), line, vector: decodeVector(data) })),
  };
}
