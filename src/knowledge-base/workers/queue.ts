import { OptionsError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { PostgresStore } from "../../store/postgres/postgres-store.js";
import type { Server } from "../../postgres/server.js";
import { createJobTables, prepareJobSchema } from "./jobs.js";
import { prepareQueueTables } from "./queue-tables.js";

/** The queue in the database of a store. */
export interface Queue {
  readonly store: PostgresStore<string>;
  readonly database: Server;
  /** Address of the database. */
  readonly url: string;
  /** Schema of the store and the queue, quoted. */
  readonly schema: string;
  /** Schema of graphile-worker. */
  readonly jobs: string;
}

/**
 * Opens the queue beside a store's tables, and creates or upgrades it.
 *
 * @throws OptionsError for a store that is not on PostgreSQL; StoreError `version` for the queue of a newer citewell.
 */
export async function openQueue(call: string, store: Store): Promise<Queue> {
  const queue = queueOf(call, store);
  // If the queue's tables exist, the job tables exist too.
  await queue.database.read((session) => prepareJobSchema(session, queue.jobs));
  await queue.database.repeat(() => createJobTables(queue.url, queue.jobs));
  await prepareQueueTables(queue.database, queue.schema);
  return queue;
}

/** Like `openQueue`, but creates nothing. */
export function queueOf(call: string, store: unknown): Queue {
  if (!(store instanceof PostgresStore)) {
    const message = "the queue is in a PostgreSQL database: pass a store that openPostgresStore() returned";
    throw new OptionsError("options", message, { call, option: "store" });
  }
  const { server, url, schema } = store.database;
  return {
    store: store as PostgresStore<string>,
    database: server,
    url,
    schema: `"${schema}"`,
    jobs: `${schema}_jobs`,
  };
}
