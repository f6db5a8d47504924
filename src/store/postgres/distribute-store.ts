import { optionsOf, resolve } from "../../core/options.js";
import { storeAddress } from "./address.js";
import { distributeTables, requireCitus, truncateLocalRows } from "./distribution.js";
import { distributedOptions, postgresStoreOptions, schemaName } from "./options.js";
import { prepareServer } from "./prepared-server.js";
import { lockSchema, readMeta, writeMeta } from "./schema.js";

export interface DistributeStoreOptions {
  /** Shards of each table, 1 to 1,024: at least as many as the cluster will have cores. Default: 32. */
  readonly shards?: number;
  /** Schema that the store was opened with. Default: that of the address, or `citewell`. */
  readonly schema?: string;
}

const distributeOptions = optionsOf<DistributeStoreOptions>()({
  shards: distributedOptions.shape.shards,
  schema: schemaName.optional(),
});

/**
 * Spreads the tables of a store over the nodes of the Citus cluster whose coordinator has it, in one transaction. Searches go on
 * meanwhile and find every document; writes wait, and those that wait longer than their `deadlineMs` fail and change nothing.
 * Nothing is embedded again. A store that is distributed is left as it is.
 *
 * @throws OptionsError; StoreError as `openPostgresStore` does, `missing` without Citus.
 * @example
 * ```ts
 * import { distributeStore } from "citewell/postgres";
 * await distributeStore("postgres://coordinator/manuals", { shards: 32 });
 * ```
 */
export async function distributeStore(
  url: string,
  given: DistributeStoreOptions = {},
): Promise<{
  /** Shards of each table, as they are now. */
  readonly shards: number;
  /** Whether they were made by this call. */
  readonly isNew: boolean;
}> {
  const { shards, schema: named } = resolve("distributeStore", distributeOptions, given);
  const { address, schema: name } = storeAddress(url, named);
  const schema = `"${name}"`;
  const { server } = await prepareServer(address, { ...postgresStoreOptions.parse({}), schema: name, create: false });
  const { location } = server;
  try {
    await server.read((session) => requireCitus(session, location));
    const done = await server.transaction(
      async (session) => {
        await session.query("SET LOCAL statement_timeout = 0");
        await lockSchema(session, schema);
        const before = (await readMeta(session, schema))!.get("distributed");
        if (before !== undefined) return { shards: Number(before), isNew: false };
        await distributeTables(session, shards);
        await writeMeta(session, "distributed", String(shards));
        return { shards, isNew: true };
      },
      { deadlineMs: Infinity },
    );
    // The rows that the coordinator had stay there unseen, until they are deleted.
    await server.transaction((session) => truncateLocalRows(session), { deadlineMs: Infinity });
    return done;
  } finally {
    await server.close();
  }
}
