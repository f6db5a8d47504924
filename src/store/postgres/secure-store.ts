import { StoreError } from "../../core/errors.js";
import { checkFilter, type Filter } from "../../core/filter.js";
import { optionsOf, resolve } from "../../core/options.js";
import { storeAddress } from "./address.js";
import type { Server } from "../../postgres/server.js";
import type { SecuredFields } from "./filters/facts.js";
import { schemaName } from "./options.js";
import { existingServer } from "./prepared-server.js";
import { isRestricted, isSecured, scopeFacts, secureTables } from "./row-level-security.js";
import { lockSchema, type MetaName, readMeta, writeMeta } from "./schema.js";

/**
 * Turns row-level security on where it is not, or changes its fields, as the owner of the tables.
 *
 * @param schema quoted.
 * @param wanted names of metadata fields; true: those that are secured, all of a store that is not.
 * @returns the facts of the store as they are then.
 */
export async function secureStore(
  server: Server,
  schema: string,
  wanted: true | readonly string[],
  meta: ReadonlyMap<MetaName, string>,
): Promise<ReadonlyMap<MetaName, string>> {
  const before = meta.get("secured");
  const named = wanted === true ? (before ?? `"all"`) : JSON.stringify(wanted.map((name) => `.${name}`).toSorted());
  const isDone = await server.read(async (session) =>
    before === named || (await isRestricted(session)) ? isSecured(session) : false,
  );
  if (isDone) return meta;
  return server.transaction(
    async (session) => {
      await session.query("SET LOCAL statement_timeout = 0");
      await lockSchema(session, schema);
      await secureTables(session, schema, before === named ? undefined : (JSON.parse(named) as SecuredFields));
      await writeMeta(session, "secured", named);
      return (await readMeta(session, schema))!;
    },
    { deadlineMs: Infinity },
  );
}

export interface RestrictRoleOptions {
  /** Schema that the store was opened with. Default: that of the address, or `citewell`. */
  readonly schema?: string;
}

const restrictRoleOptions = optionsOf<RestrictRoleOptions>()({ schema: schemaName.optional() });

/**
 * Binds a scope to a role of the database, in a store with row-level security: whatever the members of the role ask for, the
 * server shows them no document outside it, and no conversation that another role has written. Without it a program chooses
 * the scope, and so does whoever steals its password. To be called as the owner of the tables. The name of the role is what is
 * bound, since roles of a cluster's nodes share nothing else: bind it again, before anybody uses it, when you rename it.
 *
 * @param scope values that secured fields must have; null frees the role.
 * @throws OptionsError for a scope without such a value; StoreError `missing` without the store or the role, `scope` without
 * row-level security.
 * @example
 * ```ts
 * import { restrictRole } from "citewell/postgres";
 * await restrictRole("postgres://owner@db/docs", "reader_of_acme", { metadata: { tenant: "acme" } });
 * ```
 */
export async function restrictRole(
  url: string,
  role: string,
  scope: Filter | null,
  options: RestrictRoleOptions = {},
): Promise<void> {
  const { schema: named } = resolve("restrictRole", restrictRoleOptions, options);
  const filter = scope && checkFilter("scope", scope);
  const schema = `"${storeAddress(url, named).schema}"`;
  const { server } = await existingServer(url, named === undefined ? {} : { schema: named });
  const { location } = server;
  try {
    await server.transaction(async (session) => {
      await lockSchema(session, schema);
      const meta = (await readMeta(session, schema))!;
      const secured = meta.get("secured");
      if (secured === undefined) {
        const message = `${location}: the store has no row-level security. Open it once with rowLevelSecurity as the owner of the tables`;
        throw new StoreError("scope", message, { path: location });
      }
      const [found] = await session.query<{ exists: boolean }>(
        "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS exists",
        [role],
      );
      if (filter && !found!.exists) {
        const message = `${location}: there is no role ${role}. Create it first: CREATE ROLE`;
        throw new StoreError("missing", message, { path: location });
      }
      const roles = new Map(Object.entries(JSON.parse(meta.get("roles") ?? "{}") as Record<string, string>));
      if (filter) roles.set(role, scopeFacts(filter, JSON.parse(secured) as SecuredFields));
      else roles.delete(role);
      await writeMeta(session, "roles", JSON.stringify(Object.fromEntries(roles)));
      await secureTables(session, schema);
    });
  } finally {
    await server.close();
  }
}
