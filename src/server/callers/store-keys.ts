import { z } from "zod";
import { optionsOf, resolve } from "../../core/options.js";
import { callerKeysAt } from "../../knowledge-base/caller-keys.js";
import { type KeyBook, type KeyRecord, recordsOf } from "./key.js";

export interface StoreKeysOptions {
  /** Schema that the store was opened with. Default: that of the address, or `citewell`. */
  readonly schema?: string;
}

const storeKeysOptions = optionsOf<StoreKeysOptions>()({ schema: z.string().min(1).optional() });

/** Keys in the database of a store. */
export interface StoreKeys extends KeyBook {
  /** Ends the connections. */
  readonly close: () => Promise<void>;
}

/**
 * Keys in a PostgreSQL store's own table, which holds no key but digests that recognise them. All servers of the store know them: a
 * new one is taken and a revoked one refused within a second, without a restart. The owner of the store's tables makes, lists
 * and revokes them; a server may be another user with SELECT on `caller_keys`, who sees the keys that are sent to it alone.
 *
 * @throws OptionsError for a place that is no database; StoreError `missing` without a store there, and from `list` and
 * `change` `scope` for others than the owner of the tables.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createServer, makeKey, storeKeys } from "citewell/server";
 * const path = "postgres://owner@db.example.com/docs";
 * const keys = await storeKeys(path);
 * const { key } = await makeKey(keys, { name: "Ada's notebook" });
 * const server = await createServer(await openKnowledgeBase({ path }), { keys });
 * ```
 */
export async function storeKeys(url: string, options: StoreKeysOptions = {}): Promise<StoreKeys> {
  const { schema } = resolve("storeKeys", storeKeysOptions, options);
  const table = await callerKeysAt(url, schema);
  const recordsIn = (rows: readonly { readonly id: string; readonly record: string }[]): readonly KeyRecord[] =>
    recordsOf(table.location, () => rows.map(({ id, record }) => ({ ...(JSON.parse(record) as object), id })));
  return {
    list: async () => recordsIn(await table.list()),
    find: async (ids) => recordsIn(await table.find(ids)),
    change: (change) =>
      table.change((rows) => change(recordsIn(rows)).map((key) => ({ id: key.id, record: JSON.stringify(key) }))),
    close: () => table.close(),
  };
}
