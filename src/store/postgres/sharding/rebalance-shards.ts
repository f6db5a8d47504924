import { z } from "zod";
import { optionsOf, resolve } from "../../../core/options.js";
import { originalText } from "../columns/column-text.js";
import { postgresStoreOptions } from "../options.js";
import { readDocumentWithChunks, readNotes } from "../reading.js";
import { createEmbeddings, type MetaName, type Precision, readMeta, writeMeta } from "../schema.js";
import type { Session } from "../connection/server.js";
import {
  type Allotment,
  allotmentOf,
  bucketSql,
  claimShards,
  evenAllotment,
  lockBuckets,
  openShard,
  type Shard,
} from "./shards.js";
import { prepareDocument } from "../columns/stored-document.js";
import { deleteDocuments, insertVectors, storedVectors, writeDocuments, writeNotes } from "../writing/writing.js";

export interface RebalanceShardsOptions {
  /** Addresses of all servers of the store but the first, those that were added among them. */
  readonly shards: readonly string[];
  /** As the store was opened with. Default: `citewell`. */
  readonly schema?: string;
  /** Stops between two moves; what was moved stays moved. */
  readonly signal?: AbortSignal;
}

const rebalanceOptions = optionsOf<RebalanceShardsOptions>()({
  shards: z.array(z.string()).min(1).readonly(),
  schema: postgresStoreOptions.shape.schema,
  signal: z.instanceof(AbortSignal).optional(),
});

/**
 * Spreads the documents of a store evenly over its servers, a 256th at a time: each part is copied, then handed over, then
 * deleted where it was. Searches go on meanwhile; a write waits only while its own part moves. Nothing is embedded again.
 * Interrupted, it goes on where it stopped. Every process that has the store open must know all of its servers by then.
 *
 * @param url address of the first server.
 * @throws OptionsError, and StoreError as `openPostgresStore` does.
 */
export async function rebalanceShards(
  url: string,
  given: RebalanceShardsOptions,
): Promise<{
  /** Documents that were moved. */
  readonly documents: number;
}> {
  const options = resolve("rebalanceShards", rebalanceOptions, given);
  const schema = `"${options.schema}"`;
  const shards: Shard[] = [];
  try {
    const defaults = postgresStoreOptions.parse({});
    for (const address of [url, ...options.shards]) {
      shards.push(await openShard(address, schema, { ...defaults, create: shards.length > 0 }));
    }
    await claimShards(shards, schema);
    const first = shards[0]!;
    const meta = (await first.server.read((session) => readMeta(session, schema)))!;
    const dimension = meta.get("dimension");
    if (dimension !== undefined) await prepareTables(shards, schema, Number(dimension), meta);
    const current = allotmentOf(meta);
    const ids = shards.map(({ id }) => id);
    const wanted = evenAllotment(ids, current);
    let documents = 0;
    for (const [bucket, owner] of Object.entries(wanted)) {
      options.signal?.throwIfAborted();
      if (current[bucket] !== owner) documents += await moveBucket(shards, schema, bucket, owner);
    }
    for (const shard of shards) await deleteLeftovers(shard, wanted);
    return { documents };
  } finally {
    await Promise.all(shards.map(({ server }) => server.close()));
  }
}

/** A new server has no vectors yet, and so lacks the tables that need to know their length. */
async function prepareTables(
  shards: readonly Shard[],
  schema: string,
  dimension: number,
  meta: ReadonlyMap<MetaName, string>,
): Promise<void> {
  for (const { server } of shards) {
    await server.transaction((session) =>
      createEmbeddings(session, schema, dimension, meta.get("precision") as Precision),
    );
  }
}

/** Copies what the others have of a bucket to its owner, hands it over, and deletes it where it was. */
async function moveBucket(shards: readonly Shard[], schema: string, bucket: string, owner: string): Promise<number> {
  const first = shards[0]!.server;
  const target = shards.find(({ id }) => id === owner)!;
  const sources = shards.filter(({ id }) => id !== owner);
  const moved = await first.transaction(
    async (session) => {
      const allotment = await lockBuckets(session, schema, [bucket], "exclusive");
      let count = 0;
      for (const { id, server } of sources) {
        // Only the owner's are valid: a copy elsewhere is what an interrupted move has left.
        if (allotment[bucket] === id) {
          count += await server.read((from) =>
            copyBucket(from, bucket, target, first === target.server ? session : undefined),
          );
        }
      }
      await writeMeta(session, "allotment", JSON.stringify({ ...allotment, [bucket]: owner }));
      return count;
    },
    { deadlineMs: Infinity },
  );
  for (const { server } of sources) await server.transaction((session) => deleteBucket(session, bucket));
  return moved;
}

const documentsPerCopy = 50;

/** @param within the open transaction on the target's server, where there is one. */
async function copyBucket(from: Session, bucket: string, target: Shard, within: Session | undefined): Promise<number> {
  const uris = await urisIn(from, "documents", bucket);
  for (let at = 0; at < uris.length; at += documentsPerCopy) {
    const some = uris.slice(at, at + documentsPerCopy);
    const read = await Promise.all(some.map((uri) => readDocumentWithChunks(from, uri)));
    const documents = read.flatMap((each) => (each ? [prepareDocument(each)] : []));
    const vectors = await storedVectors(
      from,
      documents.flatMap(({ chunks }) => chunks.map(({ vector }) => vector)),
    );
    const write = async (to: Session) => {
      await insertVectors(to, vectors);
      await writeDocuments(to, documents, (key) => vectors.get(key)!);
    };
    await (within ? write(within) : target.server.transaction(write));
  }
  const notes = await readNotes(from, await urisIn(from, "notes", bucket));
  await (within ? writeNotes(within, notes) : target.server.transaction((to) => writeNotes(to, notes)));
  return uris.length;
}

/** What a move that was interrupted has copied or not deleted. */
async function deleteLeftovers({ id, server }: Shard, allotment: Allotment): Promise<void> {
  const rows = await server.read((session) =>
    session.query<{ bucket: string }>(`SELECT DISTINCT ${bucketSql("uri")} AS bucket FROM documents`),
  );
  for (const { bucket } of rows) {
    if (allotment[bucket] !== id) await server.transaction((session) => deleteBucket(session, bucket));
  }
}

async function deleteBucket(session: Session, bucket: string): Promise<void> {
  await deleteDocuments(session, await urisIn(session, "documents", bucket));
  await session.query(`DELETE FROM notes WHERE ${bucketSql("uri")} = $1`, [bucket]);
}

async function urisIn(session: Session, table: "documents" | "notes", bucket: string): Promise<string[]> {
  const rows = await session.query<{ uri: string }>(
    `SELECT uri FROM ${table} WHERE ${bucketSql("uri")} = $1 ORDER BY uri`,
    [bucket],
  );
  return rows.map(({ uri }) => originalText(uri));
}
