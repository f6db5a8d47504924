import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { functionOption, optionsOf, resolve } from "../../core/options.js";
import { originalText } from "./columns/column-text.js";
import { postgresStoreOptions } from "./options.js";
import { readDocumentWithChunks, readNotes } from "./reading.js";
import { readMeta, writeMeta } from "./schema.js";
import type { Server, Session, Work } from "./connection/server.js";
import {
  type Allotment,
  allotmentOf,
  bucketSql,
  claimShards,
  evenAllotment,
  lockBuckets,
  openShard,
  type Shard,
} from "./sharding/shards.js";
import { prepareDocument } from "./columns/stored-document.js";
import { deleteDocuments, insertVectors, storedVectors, writeDocuments, writeNotes } from "./writing/writing.js";

export interface RebalanceShardsOptions {
  /** Addresses of all servers of the store but the first, those that were added among them. */
  readonly shards: readonly string[];
  /** As the store was opened with. Default: `citewell`. */
  readonly schema?: string;
  /**
   * The longest `deadlineMs` or `maxLagMs` that the store is opened with anywhere: so long after the last move, every search that began before it has
   * ended, and what was moved is deleted where it was. 1 to 86,400,000. Default: 30,000.
   */
  readonly deadlineMs?: number;
  /** Receives how far it is, after every 50 documents. */
  readonly onProgress?: (progress: RebalanceProgress) => void;
  /** Stops it; what was moved stays moved. */
  readonly signal?: AbortSignal;
}

export interface RebalanceProgress {
  /** Documents that were copied to their new server. */
  readonly documents: number;
  /** Parts that were moved; the whole store has 256. */
  readonly parts: number;
  /** Parts that have to move, those that were moved among them. */
  readonly partsToMove: number;
}

const rebalanceOptions = optionsOf<RebalanceShardsOptions>()({
  shards: z.array(z.string()).min(1).readonly(),
  schema: postgresStoreOptions.shape.schema,
  deadlineMs: postgresStoreOptions.shape.deadlineMs,
  onProgress: functionOption<(progress: RebalanceProgress) => void>().optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

/**
 * Spreads the documents of a store evenly over its servers, a 256th at a time: each part is copied and handed over, and in the
 * end all are deleted where they were. Searches go on meanwhile and find every document once; a write waits only while its own
 * part moves. Nothing is embedded again. Interrupted, it goes on where it stopped. Every process that has the store open must
 * know all of its servers by then. Until it is done, `counts` counts what was moved twice.
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
  const { signal, onProgress = () => {} } = options;
  const schema = `"${options.schema}"`;
  const shards: Shard[] = [];
  try {
    const defaults = postgresStoreOptions.parse({});
    for (const address of [url, ...options.shards]) {
      shards.push(await openShard(address, schema, { ...defaults, create: shards.length > 0 }));
    }
    await claimShards(shards, schema);
    const first = shards[0]!.server;
    const meta = (await first.read((session) => readMeta(session, schema)))!;
    const current = allotmentOf(meta);
    const wanted = evenAllotment(
      shards.map(({ id }) => id),
      current,
    );
    const moves = Object.entries(wanted).filter(([bucket, owner]) => current[bucket] !== owner);
    await first.transaction((session) => writeMeta(session, "rebalancing", "true"));
    let [documents, parts] = [0, 0];
    const copied = (count: number) => {
      documents += count;
      onProgress({ documents, parts, partsToMove: moves.length });
      signal?.throwIfAborted();
    };
    for (const [bucket, owner] of moves) {
      await moveBucket(shards, schema, bucket, owner, copied);
      parts += 1;
      copied(0);
    }
    await deleteCopies(shards, wanted, options.deadlineMs, signal);
    await first.transaction((session) => session.query("DELETE FROM meta WHERE name = 'rebalancing'"));
    return { documents };
  } finally {
    await Promise.all(shards.map(({ server }) => server.close()));
  }
}

/** Copies what a bucket's owner has of it to its new owner, and hands it over. */
async function moveBucket(
  shards: readonly Shard[],
  schema: string,
  bucket: string,
  owner: string,
  copied: (documents: number) => void,
): Promise<void> {
  const first = shards[0]!.server;
  const target = shards.find(({ id }) => id === owner)!.server;
  const move: Work<void> = async (session) => {
    const { allotment } = await lockBuckets(session, schema, [bucket], "exclusive");
    const source = shards.find(({ id }) => id === allotment[bucket])!.server;
    const write = (work: Work<unknown>) => (target === first ? work(session) : target.transaction(work));
    await source.read((from) => copyBucket(from, bucket, write, copied));
    await writeMeta(session, "allotment", JSON.stringify({ ...allotment, [bucket]: owner }));
  };
  await first.transaction(move, { deadlineMs: Infinity });
}

const documentsPerCopy = 50;

async function copyBucket(
  from: Session,
  bucket: string,
  write: (work: Work<unknown>) => Promise<unknown>,
  copied: (documents: number) => void,
): Promise<void> {
  for (const uris of batched(await urisIn(from, "documents", bucket))) {
    const read = await Promise.all(uris.map((uri) => readDocumentWithChunks(from, uri)));
    const documents = read.flatMap((each) => (each ? [prepareDocument(each)] : []));
    const vectors = await storedVectors(
      from,
      documents.flatMap(({ chunks }) => chunks.map(({ vector }) => vector)),
    );
    await write(async (to) => {
      await insertVectors(to, vectors);
      await writeDocuments(to, documents, (key) => vectors.get(key)!);
    });
    copied(uris.length);
  }
  const notes = await readNotes(from, await urisIn(from, "notes", bucket));
  await write((to) => writeNotes(to, notes));
}

/** Deletes what stands where it no longer belongs, once every search that could have missed it elsewhere has ended. */
async function deleteCopies(
  shards: readonly Shard[],
  allotment: Allotment,
  afterMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const copies: { readonly server: Server; readonly bucket: string }[] = [];
  for (const { id, server } of shards) {
    const rows = await server.read((session) =>
      session.query<{ bucket: string }>(
        `SELECT ${bucketSql("uri")} AS bucket FROM documents UNION SELECT ${bucketSql("uri")} FROM notes`,
      ),
    );
    for (const { bucket } of rows) if (allotment[bucket] !== id) copies.push({ server, bucket });
  }
  if (copies.length === 0) return;
  await sleep(afterMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  for (const { server, bucket } of copies) {
    for (const uris of batched(await server.read((session) => urisIn(session, "documents", bucket)))) {
      signal?.throwIfAborted();
      await server.transaction((session) => deleteDocuments(session, uris));
    }
    await server.transaction((session) => session.query(`DELETE FROM notes WHERE ${bucketSql("uri")} = $1`, [bucket]));
  }
}

function batched(uris: readonly string[]): string[][] {
  const count = Math.ceil(uris.length / documentsPerCopy);
  return Array.from({ length: count }, (_, at) => uris.slice(at * documentsPerCopy, (at + 1) * documentsPerCopy));
}

async function urisIn(session: Session, table: "documents" | "notes", bucket: string): Promise<string[]> {
  const rows = await session.query<{ uri: string }>(
    `SELECT uri FROM ${table} WHERE ${bucketSql("uri")} = $1 ORDER BY uri`,
    [bucket],
  );
  return rows.map(({ uri }) => originalText(uri));
}
