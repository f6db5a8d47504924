import { StoreError } from "../../core/errors.js";
import type { Settings } from "../../postgres/local-settings.js";
import type { Server, Session } from "../../postgres/server.js";

/** The tables that Citus spreads over its nodes, each with its distribution column. All others stay on the coordinator. */
const distributed = {
  documents: "id",
  texts: "document",
  chunks: "document",
  postings: "document",
  fields: "document",
  notes: "document",
  embeddings: "document",
  // A vector belongs to its text, which several documents may have.
  vectors: "key",
  // Made, and gone again, while unused vectors are looked for.
  used_vectors: "key",
} as const;

/** Tables of a new store, whose `embeddings` is made with the first vector. */
const firstTables = ["documents", "texts", "chunks", "postings", "fields", "notes", "vectors"] as const;

/** Distributes a table, unless it is, beside the others of documents: all that belongs to one document is on one node. */
export async function distributeTable(
  session: Session,
  table: keyof typeof distributed,
  shards?: number,
): Promise<void> {
  const [found] = await session.query<{ isDistributed: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass) AS "isDistributed"`,
    [table],
  );
  if (found!.isDistributed) return;
  // A table without a key could otherwise not be moved to another node while it is written.
  if (table === "fields") await session.query("ALTER TABLE fields REPLICA IDENTITY FULL");
  const first = distributed[table] === "key" ? "vectors" : "documents";
  const colocated = table === first ? "none" : first;
  await session.query(
    `SELECT create_distributed_table('${table}', '${distributed[table]}', colocate_with := '${colocated}'
       ${colocated === "none" ? `, shard_count := ${shards}` : ""})`,
  );
}

/** Distributes the tables of a store, in the session's transaction. */
export async function distributeTables(session: Session, shards: number): Promise<void> {
  for (const table of firstTables) await distributeTable(session, table, shards);
  const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass('embeddings') IS NOT NULL AS exists");
  if (found!.exists) await distributeTable(session, "embeddings");
}

/** Whether new connections of this user to each node have these settings, as `ALTER ROLE … SET` makes them. */
export function haveAllNodes(server: Server, settings: Settings): Promise<boolean> {
  const each = Object.entries(settings).map(([name, value]) => `current_setting('${name}', true) = '${value}'`);
  return server.read(async (session) => {
    const [found] = await session.query<{ all: boolean }>(
      `SELECT coalesce(bool_and(success AND result = 't'), false) AS "all"
       FROM run_command_on_workers($1)`,
      [`SELECT ${each.join(" AND ")}`],
    );
    return found!.all;
  });
}

/** Deletes what the coordinator keeps, unseen, of tables that were distributed with their rows. */
export async function truncateLocalRows(session: Session): Promise<void> {
  for (const table of Object.keys(distributed)) {
    const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [table]);
    if (found!.exists) await session.query(`SELECT truncate_local_data_after_distributing_table('${table}')`);
  }
}

/**
 * Makes sure that the database is the coordinator of a Citus cluster.
 *
 * @throws StoreError `missing` where Citus cannot be used, with the way out.
 */
export async function requireCitus(session: Session, location: string): Promise<void> {
  const refuse = (problem: string): never => {
    const hint =
      "Install Citus on every node, put it first in shared_preload_libraries, and run CREATE EXTENSION citus in this database, " +
      "or open the store without distributed: one server needs none";
    throw new StoreError("missing", `${location}: ${problem}. ${hint}`, { path: location });
  };
  const [found] = await session.query<{ version: string | null; isLoaded: boolean }>(
    `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version,
       current_setting('citus.version', true) IS NOT NULL OR current_setting('citus.shard_count', true) IS NOT NULL AS "isLoaded"`,
  );
  if (found!.version === null) refuse("a distributed store needs the extension Citus, which is not in this database");
  if (!found!.isLoaded) refuse("the extension Citus is in this database, but the server has not loaded it");
  const [nodes] = await session.query<{ count: number }>(
    "SELECT count(*) AS count FROM pg_dist_node WHERE isactive AND shouldhaveshards",
  );
  if (nodes!.count === 0) {
    const message = `${location}: no node of the cluster takes shards. Add one: SELECT citus_add_node('host', 5432)`;
    throw new StoreError("missing", message, { path: location });
  }
}
