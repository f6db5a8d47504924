import { OptionsError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { PostgresStore } from "../../store/postgres/postgres-store.js";
import type { Server } from "../../store/postgres/connection/server.js";
import { createJobTables } from "./jobs.js";
import { createQueueTables } from "./queue-tables.js";

/** The queue in the database of a store. */
export interface Queue {
  readonly store: PostgresStore<string>;
  readonly database: Server;
  /** Address of the database. */
  readonly url: string;
  /** Schema of graphile-worker. */
  readonly jobs: string;
}

/**
 * The queue beside a store's tables, which is created where there is none.
 *
 * @throws OptionsError for a store that is not on PostgreSQL.
 */
export async function openQueue(call: string, store: Store): Promise<Queue> {
  const queue = queueOf(call, store);
  await createQueueTables(queue.database);
  // `read` repeats this while the database cannot be reached.
  await queue.database.read(() => createJobTables(queue.url, queue.jobs));
  return queue;
}

/** The same, as it is. */
export function queueOf(call: string, store: unknown): Queue {
  if (!(store instanceof PostgresStore)) {
    const message = "the queue is in a PostgreSQL database: pass a store that openPostgresStore() returned";
    throw new OptionsError("options", message, { call, option: "store" });
  }
  const { server, url, schema } = store.database;
  return { store: store as PostgresStore<string>, database: server, url, jobs: `${schema}_jobs` };
}
