import { createHash } from "node:crypto";
import { StoreError } from "../../../core/errors.js";
import type { CallOptions } from "../../../core/ports.js";
import { columnText } from "../columns/column-text.js";
import type { ResolvedPostgresOptions } from "../options.js";
import {
  createEmbeddings,
  hasEmbeddings,
  isCurrent,
  type MetaName,
  type Precision,
  readMeta,
  upgrade,
  writeMeta,
} from "../schema.js";
import { Server, type Session, type Work } from "../connection/server.js";
import { deleteWithNotes } from "../writing/writing.js";
import type { Replicas } from "./replicas.js";

/** Documents are dealt out in so many buckets by the hash of their uri, and a server has whole buckets. */
const bucketCount = 256;

/** The bucket of a uri: the first byte of a hash that PostgreSQL computes as well, in hexadecimal. */
export function bucketOf(uri: string): string {
  return createHash("sha256").update(columnText(uri)).digest("hex").slice(0, 2);
}

/** SQL for the same. */
export const bucketSql = (uri: string) => `left(encode(sha256(convert_to(${uri}, 'UTF8')), 'hex'), 2)`;

/** The id of the server that has each bucket, as the first server keeps it. */
export type Allotment = Readonly<Record<string, string>>;

/** Deals all buckets out evenly, moving as few as possible from where they are. */
export function evenAllotment(ids: readonly string[], current: Allotment = {}): Allotment {
  const most = Math.ceil(bucketCount / ids.length);
  const left = new Map(ids.map((id) => [id, most]));
  const buckets = Array.from({ length: bucketCount }, (_, at) => at.toString(16).padStart(2, "0"));
  const stays = (bucket: string) => {
    const room = left.get(current[bucket] ?? "") ?? 0;
    if (room > 0) left.set(current[bucket]!, room - 1);
    return room > 0;
  };
  const kept = new Map(buckets.filter(stays).map((bucket) => [bucket, current[bucket]!]));
  return Object.fromEntries(
    buckets.map((bucket) => {
      const id = kept.get(bucket) ?? [...left].toSorted(([, one], [, other]) => other - one)[0]![0];
      if (!kept.has(bucket)) left.set(id, left.get(id)! - 1);
      return [bucket, id];
    }),
  );
}

/** A server with a part of the documents. */
export interface Shard {
  readonly id: string;
  readonly server: Server;
}

/** Beyond the first candidates a search goes on until it has what it was asked for, however many it has to look at. */
export const searchSettings = (ef: number) => ({
  "hnsw.ef_search": ef,
  "hnsw.iterative_scan": "strict_order",
  "hnsw.max_scan_tuples": 2 ** 31 - 1,
  "hnsw.scan_mem_multiplier": 16,
});

/** Connects to one server, and creates or upgrades the tables there. */
export async function openShard(
  url: string,
  schema: string,
  {
    create,
    ef,
    maxConnections,
    deadlineMs,
  }: Pick<ResolvedPostgresOptions, "create" | "ef" | "maxConnections" | "deadlineMs">,
): Promise<Shard> {
  const settings = searchSettings(ef);
  const server = await Server.open({ url, schema, settings, maxConnections, deadlineMs });
  const { location } = server;
  try {
    let meta = await server.read((session) => readMeta(session, schema));
    if (!meta && !create) {
      const message = `There is no store in the schema ${schema} at ${location}. Run \`citewell index <folder>\` first`;
      throw new StoreError("missing", message, { path: location });
    }
    if (!meta || !isCurrent(meta, location)) {
      meta = await server
        .transaction(
          async (session) => {
            await upgrade(session, schema);
            return (await readMeta(session, schema))!;
          },
          { unrecorded: true },
        )
        .catch((error: unknown) => {
          throw meta ? upgradeRefused(error, location) : error;
        });
    }
    return { id: meta.get("store")!, server };
  } catch (error) {
    await server.close();
    throw error;
  }
}

export interface ShardsOptions {
  /** The first has the settings and says who has which bucket. */
  readonly shards: readonly Shard[];
  /** Quoted. */
  readonly schema: string;
  /** A search goes on without servers that have not answered by then. Default: it fails. */
  readonly missingAfterMs: number | undefined;
  readonly onWarning: (message: string) => void;
  /** Read in place of the servers by what `reading` returns. */
  readonly replicas?: Replicas | undefined;
}

type Around = <Result>(work: Work<Result>) => Work<Result>;

/** All servers of a store, side by side. */
export class Shards {
  readonly #options: ShardsOptions;
  readonly #state: { closed?: Promise<unknown> };
  /** What is done before and after each reading; undefined for those who must read what was written last. */
  readonly #around: Around | undefined;

  constructor(options: ShardsOptions, state = {}, around?: Around) {
    this.#options = options;
    this.#state = state;
    this.#around = around;
  }

  /** The same servers for searching and reading documents, which replicas may do, within what `around` does. */
  reading(around: Around = (work) => work): Shards {
    return new Shards(this.#options, this.#state, around);
  }

  get count(): number {
    return this.#options.shards.length;
  }

  get first(): Server {
    return this.#options.shards[0]!.server;
  }

  /** @throws StoreError `closed`. */
  refuseClosed(): void {
    if (!this.#state.closed) return;
    const { location } = this.first;
    const message = `The store at ${location} was closed. Open it again with openPostgresStore()`;
    throw new StoreError("closed", message, { path: location });
  }

  /** The result of a reading on the first server. */
  async onFirst<Result>(work: Work<Result>, call?: CallOptions): Promise<Result> {
    this.refuseClosed();
    return this.first.read(work, call);
  }

  /** The results of the same on each server. */
  async onEach<Result>(run: (server: Server) => Promise<Result>): Promise<Result[]> {
    this.refuseClosed();
    return Promise.all(this.#options.shards.map(({ server }) => run(server)));
  }

  /** The results of the same reading on each server. */
  async each<Result>(work: Work<Result>, call?: CallOptions): Promise<Result[]> {
    this.refuseClosed();
    return Promise.all(this.#options.shards.map((shard) => this.#readOn(shard, work, call)));
  }

  #readOn<Result>(shard: Shard, work: Work<Result>, call?: CallOptions): Promise<Result> {
    const { replicas } = this.#options;
    if (!this.#around || !replicas) return shard.server.read(this.#around?.(work) ?? work, call);
    return replicas.read(shard, this.#around(work), call);
  }

  /** As `each`, for searches: without those that do not answer in time, where that was asked for. */
  async answering<Result>(work: Work<Result>, call: CallOptions = {}): Promise<Result[]> {
    const { shards, missingAfterMs, onWarning } = this.#options;
    if (missingAfterMs === undefined || shards.length === 1) return this.each(work, call);
    this.refuseClosed();
    const deadlineMs = Math.min(missingAfterMs, call.deadlineMs ?? Infinity);
    const results = await Promise.allSettled(shards.map((shard) => this.#readOn(shard, work, { ...call, deadlineMs })));
    const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    const other = failed.find((error) => !(error instanceof StoreError && error.code === "unavailable"));
    if (other ?? failed.length === shards.length) throw other ?? failed[0];
    for (const error of failed) onWarning(`Answered without a part of the documents: ${(error as StoreError).message}`);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /**
   * Runs work in one transaction on each server that has one of the uris, and on the first one. The commits follow one
   * another: where the last of them fails, the whole is done again, with the same result.
   */
  async transaction<Result>(
    uris: readonly string[],
    work: (first: Session, sessionOf: (uri: string) => Session) => Promise<Result>,
    call?: CallOptions,
  ): Promise<Result> {
    this.refuseClosed();
    // Also after a failure: whether a commit that was cut off took place is not known.
    return this.#transaction(uris, work, call).finally(() => this.#options.replicas?.committed());
  }

  #transaction<Result>(
    uris: readonly string[],
    work: (first: Session, sessionOf: (uri: string) => Session) => Promise<Result>,
    call?: CallOptions,
  ): Promise<Result> {
    const { shards, schema } = this.#options;
    if (shards.length === 1) return this.first.transaction((session) => work(session, () => session), call);
    return this.first.transaction(async (first) => {
      const buckets = [...new Set(uris.map(bucketOf))];
      const { allotment, isRebalancing } = await lockBuckets(first, schema, buckets, "shared");
      const unknown = buckets.some((bucket) => !shards.some(({ id }) => id === allotment[bucket]));
      if (unknown) throw unnamedServers(this.first.location);
      const owners = new Map(uris.map((uri) => [uri, allotment[bucketOf(uri)]!]));
      const needed = shards.slice(1).filter(({ id }) => isRebalancing || [...owners.values()].includes(id));
      const within = async (at: number, sessions: ReadonlyMap<string, Session>): Promise<Result> => {
        const shard = needed[at];
        if (!shard) {
          // What was moved and is not deleted yet where it was must not be found there in its old form.
          const copiesOf = (id: string) => uris.filter((uri) => owners.get(uri) !== id);
          if (isRebalancing) for (const [id, session] of sessions) await deleteWithNotes(session, copiesOf(id));
          return work(first, (uri) => sessions.get(owners.get(uri)!)!);
        }
        const inner: Work<Result> = (session) => within(at + 1, new Map([...sessions, [shard.id, session]]));
        return shard.server.transaction(inner, { ...call, once: true });
      };
      return within(0, new Map([[shards[0]!.id, first]]));
    }, call);
  }

  async close(): Promise<void> {
    const { shards, replicas } = this.#options;
    this.#state.closed ??= Promise.all([replicas?.close(), ...shards.map(({ server }) => server.close())]);
    await this.#state.closed;
  }
}

/** Keeps buckets where they are until the transaction ends, or, `exclusive`, everybody else from writing to them. */
export async function lockBuckets(
  session: Session,
  schema: string,
  buckets: readonly string[],
  how: "shared" | "exclusive",
): Promise<{ readonly allotment: Allotment; readonly isRebalancing: boolean }> {
  const lock = how === "shared" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock";
  await session.query(
    `SELECT ${lock}(hashtextextended($1 || bucket, 0)) FROM (SELECT unnest($2::text[]) AS bucket ORDER BY 1) AS b`,
    [`citewell bucket ${schema} `, buckets],
  );
  const meta = (await readMeta(session, schema))!;
  return { allotment: allotmentOf(meta), isRebalancing: meta.has("rebalancing") };
}

export function allotmentOf(meta: ReadonlyMap<MetaName, string>): Allotment {
  return JSON.parse(meta.get("allotment") ?? "{}") as Allotment;
}

/**
 * Deals the buckets of a new store out, refuses servers that do not belong together, and makes the tables that an added server
 * lacks.
 */
export async function claimShards(shards: readonly Shard[], schema: string): Promise<void> {
  const { location } = shards[0]!.server;
  const ids = shards.map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    throw new StoreError("missing", `${location}: two of the addresses are of one server`);
  const claim: Work<void> = async (session) => {
    const meta = (await readMeta(session, schema))!;
    if (!meta.has("allotment")) {
      const [row] = await session.query<{ used: boolean }>("SELECT EXISTS (SELECT FROM documents) AS used");
      // A store that one server has stays there until its buckets are moved.
      const allotment = evenAllotment(row!.used ? ids.slice(0, 1) : ids);
      if (ids.length > 1) await writeMeta(session, "allotment", JSON.stringify(allotment));
      return;
    }
    const missing = Object.values(allotmentOf(meta)).find((id) => !ids.includes(id));
    if (missing !== undefined) throw unnamedServers(location);
  };
  // One server alone may be one that cannot be written.
  if (shards.length === 1) return shards[0]!.server.read(claim);
  await shards[0]!.server.transaction(claim);
  const meta = (await shards[0]!.server.read((session) => readMeta(session, schema)))!;
  const [dimension, precision] = [meta.get("dimension"), meta.get("precision") as Precision];
  if (dimension === undefined) return;
  for (const { server } of shards.slice(1)) {
    if (await server.read(hasEmbeddings)) continue;
    await server.transaction((session) => createEmbeddings(session, schema, Number(dimension), precision));
  }
}

/** Only the owner of tables may change them: more rights for the others would be no way out. */
function upgradeRefused(error: unknown, location: string): unknown {
  const cause = error instanceof StoreError ? error.cause : undefined;
  if (!(cause instanceof Error && "code" in cause && cause.code === "42501")) return error;
  const message = `${location} has the tables of an earlier version. Open the store once as their owner, which brings them up to date`;
  return new StoreError("version", message, { path: location, cause });
}

function unnamedServers(path: string): StoreError {
  const message = `${path}: the documents are spread over more servers than were named. Name all of them in shards`;
  return new StoreError("missing", message, { path });
}
