import { checkVectorSpace } from "../../core/check-port.js";
import type { z } from "zod";
import { StoreError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import type { Embedder, Store } from "../../core/ports.js";
import { checkSpace } from "../database/schema.js";
import { storeAddress } from "./address.js";
import { Replicas } from "../../postgres/replicas.js";
import { StoreConnection } from "../../postgres/store-connection.js";
import { haveAllNodes } from "./distribution.js";
import { type PostgresStoreOptions, postgresStoreOptions } from "./options.js";
import { PostgresStore } from "./postgres-store.js";
import { existingServer, prepareServer, searchSettings } from "./prepared-server.js";
import { isRestricted } from "./row-level-security.js";
import { secureStore } from "./secure-store.js";

/**
 * Opens the store in a PostgreSQL database with pgvector 0.8 or later, or creates it. Any number of processes may read and
 * write it at the same time. Needs the package `pg`. On the coordinator of a Citus cluster, `distributed` spreads it over the nodes.
 *
 * @param url address of the database: `postgres://user:password@host:5432/name?schema=docs`. The password appears in no message.
 * @throws StoreError `missing` (with `create: false`, or without pgvector), `space`, `dimension`, `version`, `unavailable`;
 * OptionsError `missing-package` without `pg`.
 * @example
 * ```ts
 * import { openKnowledgeBase, type Embedder } from "citewell";
 * import { openPostgresStore } from "citewell/postgres";
 * export async function open(embedder: Embedder) {
 *   const store = await openPostgresStore("postgres://localhost/manuals", embedder);
 *   return openKnowledgeBase({ store, embedder });
 * }
 * ```
 */
export function openPostgresStore<const Space extends string, Schema extends z.ZodObject>(
  url: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Omit<PostgresStoreOptions, "metadata"> & {
    /** Schema of every document's metadata. */
    readonly metadata: Schema;
  },
): Promise<Store<Space, z.output<Schema>>>;
export function openPostgresStore<const Space extends string>(
  url: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options?: PostgresStoreOptions,
): Promise<Store<Space>>;
export async function openPostgresStore<const Space extends string>(
  url: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  given: PostgresStoreOptions = {},
): Promise<Store<Space>> {
  checkVectorSpace("openPostgresStore", embedder);
  const { space, dimension } = embedder;
  const { address, schema: name } = storeAddress(url, given.schema);
  const options = { ...resolve("openPostgresStore", postgresStoreOptions, given), schema: name };
  options.replicas.forEach((replica) => storeAddress(replica));
  const { maxConnections, deadlineMs, maxLagMs, ef, onWarning = () => {} } = options;
  const schema = `"${name}"`;
  const prepared = await prepareServer(address, options);
  const { server } = prepared;
  let { meta } = prepared;
  try {
    const { location } = server;
    const { rowLevelSecurity } = options;
    if (rowLevelSecurity !== false) meta = await secureStore(server, schema, rowLevelSecurity, meta);
    const restricted = rowLevelSecurity !== false && (await server.read(isRestricted));
    checkSpace(meta.get("space"), space, location);
    checkDimension(meta.get("dimension"), dimension, location);
    const limits = { schema, settings: searchSettings(ef), maxConnections, deadlineMs, maxLagMs, onWarning };
    const replicas =
      options.replicas.length > 0
        ? await Replicas.open({ ...limits, urls: options.replicas, primary: server, id: meta.get("store")! })
        : undefined;
    const connection = new StoreConnection(server, replicas);
    const settings = searchSettings(ef);
    const nodeSettings = meta.has("distributed") && (await haveAllNodes(server, settings)) ? {} : settings;
    return new PostgresStore({ connection, url: address, meta, nodeSettings, space, dimension, restricted, options });
  } catch (error) {
    await server.close();
    throw error;
  }
}

/**
 * The vector space of the store in a database, for work that needs no model. Undefined for one that was never written to.
 *
 * @throws StoreError `missing` when there is no store, `unavailable` without the server.
 */
export async function storedPostgresSpace(
  url: string,
  options: Pick<PostgresStoreOptions, "formerShard"> = {},
): Promise<string | undefined> {
  const { server, meta } = await existingServer(url, options);
  await server.close();
  return meta.get("space");
}

function checkDimension(stored: string | undefined, wanted: number | undefined, path: string): void {
  if (stored === undefined || wanted === undefined || Number(stored) === wanted) return;
  const message = `The store at ${path} holds vectors of ${stored} dimensions, the embedder makes ${wanted}. Use the embedder that the store was created with, or index into another schema`;
  throw new StoreError("dimension", message, { path });
}
