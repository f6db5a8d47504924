import type { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import type { Embedder, Store } from "../../core/ports.js";
import { checkSpace } from "../database/schema.js";
import { type PostgresStoreOptions, postgresStoreOptions } from "./options.js";
import { PostgresStore } from "./postgres-store.js";
import { isCurrent, readMeta, upgrade } from "./schema.js";
import { Server } from "./server.js";

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
  checkUrl(url);
  const { create, ef, maxConnections, deadlineMs } = options;
  const schema = `"${options.schema}"`;
  // Beyond the first candidates a search goes on until it has what it was asked for, however many it has to look at.
  const settings = {
    "hnsw.ef_search": ef,
    "hnsw.iterative_scan": "strict_order",
    "hnsw.max_scan_tuples": 2 ** 31 - 1,
    "hnsw.scan_mem_multiplier": 16,
  };
  const server = await Server.open({ url, schema, settings, maxConnections, deadlineMs });
  const { location } = server;
  try {
    let meta = await server.read((session) => readMeta(session, schema));
    if (!meta && !create) {
      const message = `There is no store in the schema ${options.schema} at ${location}. Run \`citewell index <folder>\` first`;
      throw new StoreError("missing", message, { path: location });
    }
    if (!meta || !isCurrent(meta, location)) {
      meta = await server.transaction(async (session) => {
        await upgrade(session, schema);
        return (await readMeta(session, schema))!;
      });
    }
    checkSpace(meta.get("space"), space, location);
    checkDimension(meta.get("dimension"), dimension, location);
    const [type] = await server.read((session) =>
      session.query<{ oid: number }>("SELECT 'vector'::regtype::oid::integer AS oid"),
    );
    return new PostgresStore({ server, meta, vectorOid: type!.oid, space, dimension, options });
  } catch (error) {
    await server.close();
    throw error;
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
