import pg from "pg";
import { type PostgresServer, type PostgresServerOptions, startPostgres } from "./postgres-server.js";

/** A coordinator and its workers, each a server of its own on this machine. */
export interface CitusCluster {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];
  /** Address of a new database, which all nodes have. */
  readonly createDatabase: (name: string) => Promise<string>;
  /** Starts another worker, which has the database, and adds it to the cluster. */
  readonly addWorker: (database: string) => Promise<PostgresServer>;
  readonly remove: () => Promise<void>;
}

const settings = [
  "shared_preload_libraries=citus",
  "citus.local_hostname=127.0.0.1",
  "citus.node_conninfo=sslmode=disable",
  "wal_level=logical",
  "shared_buffers=16MB",
  "max_worker_processes=16",
  // Deadlocks between nodes are looked for after twice this time.
  "deadlock_timeout=500",
];

export interface CitusOptions {
  /** Default: 3. */
  readonly workers?: number;
  /** Settings of all nodes beside those that a cluster needs. */
  readonly also?: readonly string[];
  /** Size of the disk of each worker, in MB, as `startPostgres` takes it. */
  readonly diskMb?: number;
  /** Size of a disk for the log of each worker, in MB, as `startPostgres` takes it. */
  readonly logDiskMb?: number;
  /** The port at which the other nodes find a worker, such as that of a proxy. Default: its own. */
  readonly portOf?: (worker: PostgresServer) => number | Promise<number>;
}

export async function startCitus(options: CitusOptions = {}): Promise<CitusCluster> {
  const { workers: count = 3, also = [], diskMb, logDiskMb, portOf = ({ port }) => port } = options;
  const start = (disks: Pick<PostgresServerOptions, "diskMb" | "logDiskMb"> = {}) =>
    startPostgres({ settings: [...settings, ...also], ...disks });
  const coordinator = await start();
  const workers: PostgresServer[] = [];
  const disks = { ...(diskMb !== undefined && { diskMb }), ...(logDiskMb !== undefined && { logDiskMb }) };
  for (let at = 0; at < count; at++) workers.push(await start(disks));
  const prepare = async (server: PostgresServer, database: string) => {
    await server.createDatabase(database);
    await query(server.url(database), "CREATE EXTENSION citus");
  };
  const join = async (worker: PostgresServer, database: string) => {
    await query(coordinator.url(database), `SELECT citus_add_node('127.0.0.1', ${await portOf(worker)})`);
  };
  return {
    coordinator,
    workers,
    createDatabase: async (name) => {
      await prepare(coordinator, name);
      await query(coordinator.url(name), `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
      for (const worker of workers) {
        await prepare(worker, name);
        await join(worker, name);
      }
      return coordinator.url(name);
    },
    addWorker: async (database) => {
      const worker = await start();
      workers.push(worker);
      await prepare(worker, database);
      await join(worker, database);
      return worker;
    },
    remove: async () => {
      await Promise.all([coordinator, ...workers].map((server) => server.remove()));
    },
  };
}

/** The rows of a statement on a connection of its own. */
export async function query<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
