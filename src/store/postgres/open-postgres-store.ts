import type { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import type { Embedder, Store } from "../../core/ports.js";
import { checkSpace } from "../database/schema.js";
import { type PostgresStoreOptions, postgresStoreOptions } from "./options.js";
import { PostgresStore } from "./postgres-store.js";
import { isSecured, secureTables } from "./row-level-security.js";
import { readMeta } from "./schema.js";
import { Replicas } from "./sharding/replicas.js";
import { claimShards, openShard, searchSettings, type Shard, Shards } from "./sharding/shards.js";

/**
 * Opens the store in a PostgreSQL database with pgvector 0.8 or later, or creates it. Any number of processes may read and
 * write it at the same time. Needs the package `pg`.
 *
 * @param url address of the database: `postgres://user:password@host:5432/name`. The password appears in no message.
 * @throws StoreError `missing` (with `create: false`, or without pgvector), `space`, `dimension`, `version`, `unavailable`;
 * OptionsError `missing-package` without `pg`.
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
  { space, dimension }: Pick<Embedder<Space>, "space" | "dimension">,
  given: PostgresStoreOptions = {},
): Promise<Store<Space>> {
  const options = resolve("openPostgresStore", postgresStoreOptions, given);
  [url, ...options.shards, ...options.replicas].forEach(checkUrl);
  const { create, missingAfterMs, onWarning = () => {} } = options;
  const schema = `"${options.schema}"`;
  const opened: Shard[] = [];
  try {
    for (const address of [url, ...options.shards]) {
      opened.push(await openShard(address, schema, { ...options, create: create || opened.length > 0 }));
    }
    const { first, location } = { first: opened[0]!.server, location: opened[0]!.server.location };
    await claimShards(opened, schema);
    for (const { server } of options.rowLevelSecurity ? opened : []) {
      if (await server.read(isSecured)) continue;
      await server.transaction((session) => secureTables(session, schema));
    }
    const meta = (await first.read((session) => readMeta(session, schema)))!;
    checkSpace(meta.get("space"), space, location);
    checkDimension(meta.get("dimension"), dimension, location);
    const { replicas: urls, maxConnections, deadlineMs, maxLagMs, ef } = options;
    const settings = searchSettings(ef);
    const limits = { maxConnections, deadlineMs, maxLagMs };
    const replicas =
      urls.length > 0
        ? await Replicas.open({ urls, primaries: opened, schema, settings, ...limits, onWarning })
        : undefined;
    const shards = new Shards({ shards: opened, schema, missingAfterMs, onWarning, replicas });
    return new PostgresStore({ shards, url, meta, space, dimension, options });
  } catch (error) {
    await Promise.all(opened.map(({ server }) => server.close()));
    throw error;
  }
}

/**
 * The vector space of the store in a database, for work that needs no model. Undefined for one that was never written to.
 *
 * @throws StoreError `missing` when there is no store, `unavailable` without the server.
 */
export async function storedPostgresSpace(url: string): Promise<string | undefined> {
  checkUrl(url);
  const options = postgresStoreOptions.parse({});
  const schema = `"${options.schema}"`;
  const { server } = await openShard(url, schema, { ...options, create: false });
  try {
    return (await server.read((session) => readMeta(session, schema)))?.get("space");
  } finally {
    await server.close();
  }
}

function checkUrl(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return;
  // What is no address may still hold a password.
  const message = "the address must begin with postgres://, such as postgres://user:password@host:5432/name";
  throw new OptionsError("options", message, { call: "openPostgresStore", option: "url" });
}

function checkDimension(stored: string | undefined, wanted: number | undefined, path: string): void {
  if (stored === undefined || wanted === undefined || Number(stored) === wanted) return;
  const message = `The store at ${path} holds vectors of ${stored} dimensions, the embedder makes ${wanted}. Use the embedder that the store was created with, or index into another schema`;
  throw new StoreError("dimension", message, { path });
}
