import { StoreError } from "../../core/errors.js";
import { storeAddress } from "./address.js";
import { Server, type Session } from "../../postgres/server.js";
import { distributeTables, requireCitus } from "./distribution.js";
import { type PostgresStoreOptions, postgresStoreOptions, type ResolvedPostgresOptions } from "./options.js";
import { isCurrent, type MetaName, readMeta, upgrade, writeMeta } from "./schema.js";

/** A server with the tables of a store, and the facts of the store. */
export interface PreparedServer {
  readonly server: Server;
  readonly meta: ReadonlyMap<MetaName, string>;
}

type Needed = Pick<
  ResolvedPostgresOptions,
  "schema" | "create" | "ef" | "maxConnections" | "deadlineMs" | "formerShard" | "distributed"
>;

/** Beyond the first candidates, a search continues until it has the requested count, however many rows that takes. */
export const searchSettings = (ef: number) => ({
  "hnsw.ef_search": ef,
  "hnsw.iterative_scan": "strict_order",
  "hnsw.max_scan_tuples": 2 ** 31 - 1,
  "hnsw.scan_mem_multiplier": 16,
});

/** Connects to a server, and creates, upgrades or distributes the tables there. */
export async function prepareServer(url: string, options: Needed): Promise<PreparedServer> {
  const { create, ef, maxConnections, deadlineMs, distributed } = options;
  const schema = `"${options.schema}"`;
  const server = await Server.open({ url, schema, settings: searchSettings(ef), maxConnections, deadlineMs });
  const { location } = server;
  try {
    const meta = await server.read((session) => readMeta(session, schema));
    if (!meta && !create) {
      const message = `There is no store in the schema ${schema} at ${location}. Run \`citewell index <folder>\` first`;
      throw new StoreError("missing", message, { path: location });
    }
    if (meta && !options.formerShard) refuseShard(meta, location);
    const isNew = !meta;
    const isWanted = distributed !== undefined && !meta?.has("distributed");
    if (isWanted) await server.read((session) => requireCitus(session, location));
    server.isCoordinator = isWanted || meta?.has("distributed") === true;
    if (meta && isCurrent(meta, location) && !isWanted) return { server, meta };
    const prepared = await server
      .transaction(
        async (session) => {
          await session.query("SET LOCAL statement_timeout = 0");
          await upgrade(session, schema);
          if (isWanted) await distributeNew(session, distributed.shards, location);
          return (await readMeta(session, schema))!;
        },
        { unrecorded: true, ...(!isNew && { deadlineMs: Infinity }) },
      )
      .catch((error: unknown) => {
        throw meta ? upgradeRefused(error, location) : error;
      });
    return { server, meta: prepared };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The store at an address, with default options; it must exist. */
export async function existingServer(
  url: string,
  options: Pick<PostgresStoreOptions, "formerShard" | "schema"> = {},
): Promise<PreparedServer> {
  const { address, schema } = storeAddress(url, options.schema);
  return prepareServer(address, { ...postgresStoreOptions.parse(options), schema, create: false });
}

async function distributeNew(session: Session, shards: number, path: string): Promise<void> {
  const [row] = await session.query<{ used: boolean }>(
    "SELECT EXISTS (SELECT FROM documents) OR EXISTS (SELECT FROM vectors) AS used",
  );
  if (row!.used) {
    const message = `${path}: the store has documents on one server. Distribute it once, by \`citewell distribute\` or distributeStore()`;
    throw new StoreError("locked", message, { path });
  }
  await distributeTables(session, shards);
  await writeMeta(session, "distributed", String(shards));
}

/** An earlier version spread stores over several servers, each of which has a part. */
function refuseShard(meta: ReadonlyMap<MetaName, string>, path: string): void {
  const servers = new Set(Object.values(JSON.parse(meta.get("allotment") ?? "{}") as Readonly<Record<string, string>>));
  if (servers.size <= 1) return;
  const message =
    `${path} has a part of the documents only: an earlier version spread them over ${servers.size} servers. Copy them into a ` +
    "new store by `citewell copy postgres://user@a/docs,postgres://user@b/docs TO`, which names all of these servers";
  throw new StoreError("version", message, { path });
}

/** Only the owner of tables may change them; granting rights to other users would not help. */
function upgradeRefused(error: unknown, location: string): unknown {
  const cause = error instanceof StoreError ? error.cause : undefined;
  if (!(cause instanceof Error && "code" in cause && cause.code === "42501")) return error;
  const message = `${location} has the tables of an earlier version. Open the store once as their owner, which brings them up to date`;
  return new StoreError("version", message, { path: location, cause });
}
