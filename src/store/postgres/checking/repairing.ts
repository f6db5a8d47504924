import { checksumOf } from "../../database/checksums.js";
import { repairAltered } from "../../conversations/checking.js";
import { bigints, texts } from "../columns/binary-parameters.js";
import { originalText } from "../columns/column-text.js";
import { type Findings, orphans } from "./checking.js";
import { workOn } from "../postgres-conversations.js";
import { readDocumentWithChunks } from "../reading.js";
import { hasEmbeddings } from "../schema.js";
import type { Session } from "../connection/server.js";
import { prepareDocument } from "../columns/stored-document.js";
import { deleteDocuments, removeChunks, storedVectors, writeDocuments } from "../writing/writing.js";

/** Facts without which the vectors have no meaning: they are kept as they are. */
const neededFacts = ["version", "store", "space", "dimension", "precision"];

/**
 * Deletes what is broken, so that the next ingest writes it again, and derives anew what is derived, in the session's
 * transaction.
 *
 * @returns how many intact vectors were dropped because no chunk uses them.
 */
export async function repairTables(
  session: Session,
  { broken, misindexed, vectors }: Findings,
  dropUnusedVectors: boolean,
): Promise<number> {
  await session.query("SET LOCAL statement_timeout = 0");
  await session.query("LOCK TABLE documents, meta, conversations, exchanges, approvals IN SHARE ROW EXCLUSIVE MODE");
  await deleteDocuments(session, await urisOf(session, broken));
  await session.query("DELETE FROM vectors WHERE key = ANY($1::text[])", [texts([...vectors])]);
  for (const uri of await urisOf(session, misindexed)) await writeAgain(session, uri);
  for (const orphan of orphans) await session.query(`DELETE FROM ${orphan}`);
  if (await hasEmbeddings(session)) {
    await session.query("DELETE FROM embeddings WHERE NOT EXISTS (SELECT FROM chunks WHERE label = embeddings.label)");
  }
  await session.query("DELETE FROM totals");
  await session.query(
    "INSERT INTO totals SELECT (SELECT count(*) FROM chunks), coalesce(sum(frequency), 0) FROM postings",
  );
  const notes = await session.query<{ uri: string; note: string; checksum: number }>("SELECT * FROM notes");
  const alteredNotes = notes.filter(({ uri, note, checksum }) => checksumOf([uri, note]) !== checksum);
  await session.query("DELETE FROM notes WHERE uri = ANY($1::text[])", [texts(alteredNotes.map(({ uri }) => uri))]);
  const facts = await session.query<{ name: string; value: string; checksum: number }>("SELECT * FROM meta");
  for (const { name, value, checksum } of facts) {
    const actual = checksumOf([name, value]);
    if (actual === checksum) continue;
    await (neededFacts.includes(name)
      ? session.query("UPDATE meta SET checksum = $2 WHERE name = $1", [name, actual])
      : session.query("DELETE FROM meta WHERE name = $1", [name]));
  }
  await workOn(session, repairAltered());
  if (!dropUnusedVectors) return 0;
  const dropped = await session.query(
    "DELETE FROM vectors WHERE NOT EXISTS (SELECT FROM chunks WHERE vector = vectors.key) RETURNING 1",
  );
  return dropped.length;
}

async function urisOf(session: Session, ids: ReadonlySet<number>): Promise<string[]> {
  const rows = await session.query<{ uri: string }>("SELECT uri FROM documents WHERE id = ANY($1::bigint[])", [
    bigints([...ids]),
  ]);
  return rows.map(({ uri }) => originalText(uri));
}

/** Writes an intact document from what is stored of it, with all that is derived from it. */
async function writeAgain(session: Session, uri: string): Promise<void> {
  const stored = await readDocumentWithChunks(session, uri);
  if (!stored) return;
  const prepared = prepareDocument(stored);
  const labels = await session.query<{ label: number }>(
    "SELECT label FROM chunks JOIN documents ON documents.id = chunks.document WHERE uri = $1",
    [prepared.columns.uri],
  );
  await removeChunks(
    session,
    labels.map(({ label }) => label),
  );
  const vectors = await storedVectors(
    session,
    prepared.chunks.map(({ vector }) => vector),
  );
  await writeDocuments(session, [prepared], (key) => vectors.get(key)!);
}
