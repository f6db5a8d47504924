import { checksumOf } from "../../database/checksums.js";
import { repairAltered } from "../../conversations/checking.js";
import { bigints, texts } from "../../../postgres/binary-parameters.js";
import { originalText } from "../../../postgres/column-text.js";
import { alteredNotes, type Findings, orphans } from "./checking.js";
import { workOn } from "../postgres-conversations.js";
import { readDocumentWithChunks } from "../reading.js";
import { distributeTable } from "../distribution.js";
import { hasEmbeddings } from "../schema.js";
import type { Session } from "../../../postgres/server.js";
import { type DocumentId, prepareDocument } from "../stored-document.js";
import type { StoreFacts } from "../store-facts.js";
import { type ChunkKey, deleteDocuments, removeChunks, storedVectors, writeDocuments } from "../writing/writing.js";

export interface Repair {
  readonly dropUnusedVectors: boolean;
  readonly facts: StoreFacts;
}

/** Facts without which the vectors have no meaning: they are kept as they are. */
const neededFacts = [
  "version",
  "store",
  "space",
  "dimension",
  "precision",
  "distributed",
  "secured",
  "roles",
  "column",
];

/**
 * Deletes broken rows, so that the next ingest writes them again, and rebuilds derived rows, in the session's
 * transaction.
 *
 * @returns how many intact vectors were dropped because no chunk uses them.
 */
export async function repairTables(
  session: Session,
  { broken, misindexed, vectors }: Findings,
  { dropUnusedVectors, facts }: Repair,
): Promise<number> {
  // A cluster makes tables only in a transaction that goes from node to node.
  await session.query("SET LOCAL statement_timeout = 0; SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
  await session.query("LOCK TABLE documents, meta, conversations, exchanges, approvals IN SHARE ROW EXCLUSIVE MODE");
  await deleteDocuments(session, await urisOf(session, broken));
  await session.query("DELETE FROM vectors WHERE key = ANY($1::text[])", [texts([...vectors])]);
  for (const uri of await urisOf(session, misindexed)) await writeAgain(session, uri, facts);
  for (const orphan of orphans) await session.query(`DELETE FROM ${orphan}`);
  if (await hasEmbeddings(session)) {
    await session.query(
      "DELETE FROM embeddings e WHERE NOT EXISTS (SELECT FROM chunks c WHERE c.document = e.document AND c.label = e.label)",
    );
  }
  await session.query("DELETE FROM totals");
  await session.query(
    `WITH c AS MATERIALIZED (SELECT count(*) AS chunks FROM chunks),
       w AS MATERIALIZED (SELECT coalesce(sum(frequency), 0) AS words FROM postings)
     INSERT INTO totals SELECT c.chunks, w.words FROM c, w`,
  );
  for await (const { document } of alteredNotes(session)) {
    await session.query("DELETE FROM notes WHERE document = $1::bigint", [String(document)]);
  }
  const rows = await session.query<{ name: string; value: string; checksum: number }>("SELECT * FROM meta");
  for (const { name, value, checksum } of rows) {
    const actual = checksumOf([name, value]);
    if (actual === checksum) continue;
    await (neededFacts.includes(name)
      ? session.query("UPDATE meta SET checksum = $2 WHERE name = $1", [name, actual])
      : session.query("DELETE FROM meta WHERE name = $1", [name]));
  }
  await workOn(session, repairAltered());
  if (!dropUnusedVectors) return 0;
  const before = await countVectors(session);
  // On a cluster a vector may be on another node than the chunks that use it. Its nodes send their keys to each other.
  await session.query('CREATE TABLE used_vectors (key text COLLATE "C" PRIMARY KEY)');
  if (facts.isDistributed) await distributeTable(session, "used_vectors");
  await session.query("INSERT INTO used_vectors SELECT DISTINCT vector FROM chunks");
  await session.query(
    "DELETE FROM vectors WHERE NOT EXISTS (SELECT FROM used_vectors used WHERE used.key = vectors.key)",
  );
  await session.query("DROP TABLE used_vectors");
  return before - (await countVectors(session));
}

async function countVectors(session: Session): Promise<number> {
  const [counted] = await session.query<{ vectors: number }>("SELECT count(*) AS vectors FROM vectors");
  return counted!.vectors;
}

async function urisOf(session: Session, ids: ReadonlySet<DocumentId>): Promise<string[]> {
  const rows = await session.query<{ uri: string }>("SELECT uri FROM documents WHERE id = ANY($1::bigint[])", [
    bigints([...ids]),
  ]);
  return rows.map(({ uri }) => originalText(uri));
}

/** Rewrites an intact document from its stored rows, with all rows derived from it. */
async function writeAgain(session: Session, uri: string, facts: StoreFacts): Promise<void> {
  const stored = await readDocumentWithChunks(session, uri);
  if (!stored) return;
  const prepared = prepareDocument(stored, facts.secured);
  const chunks = await session.query<ChunkKey>(
    "SELECT document, label FROM chunks WHERE document = ANY($1::bigint[])",
    [bigints([prepared.id])],
  );
  await removeChunks(session, chunks);
  const vectors = await storedVectors(
    session,
    prepared.chunks.map(({ vector }) => vector),
  );
  await writeDocuments(session, [prepared], (key) => vectors.get(key)!, facts.column);
}
