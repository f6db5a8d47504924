import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { type Expression, expressionOf } from "../database/filters.js";
import { columnText } from "../../postgres/column-text.js";
import { literal, type Settings } from "../../postgres/local-settings.js";
import type { Session } from "../../postgres/server.js";
import { everyFactSql, factsQuery, type SecuredFields } from "./filters/facts.js";
import { type FilterField, valueFields } from "./filters/filter-fields.js";

/** Names the facts that documents must have for a transaction to see them. */
const scopeSetting = "citewell.scope";

/** Names the scope whose conversations a transaction sees and changes. */
export const conversationsSetting = "citewell.conversations";

/** Names the ids of the keys of callers that a transaction sees, with commas between them. */
export const keysSetting = "citewell.keys";

/**
 * A server sees the keys that its callers send, each by its id, and a user who knows no ids sees none. Who owns the tables makes,
 * lists and revokes them.
 */
export const keysCondition = `id = ANY (string_to_array(current_setting('${keysSetting}', true), ','))`;

/** Tables whose rows have the facts of their document, so that their policies look at no other table, as a cluster requires. */
const documentTables = ["documents", "texts", "fields", "chunks", "postings", "embeddings"] as const;

/** Tables that only writers need, and facts about the whole store, which every reader needs and which hold nothing of a document. */
const otherPolicies = { vectors: "false", notes: "false", meta: "true", totals: "true" };

const conversationTables = ["conversations", "exchanges", "approvals"] as const;

/** Tables whose rows know the role that wrote them. */
const authored = [...conversationTables, "commits"] as const;

/** Roles that see no more than some facts allow, whatever a transaction says: a `tsquery` for each. */
export type RoleScopes = Readonly<Record<string, string>>;

/** A condition for the members of a role alone. One that is gone binds nobody. */
const forRole = (role: string, condition: string) =>
  `(${condition} OR NOT coalesce(pg_has_role(to_regrole(${literal(`"${role.replaceAll('"', '""')}"`)}), 'MEMBER'), false))`;

/** Conditions on the rows that others than the owner of the tables may see, by table and command. */
function policiesOf(roles: RoleScopes): readonly (readonly [commands: string, table: string, condition: string])[] {
  const bound = (condition: (facts: string) => string) =>
    Object.entries(roles).map(([role, facts]) => ` AND ${forRole(role, condition(facts))}`);
  const within = `facts @@ nullif(current_setting('${scopeSetting}', true), '')::tsquery`;
  const documents = `${within}${bound((facts) => `facts @@ ${literal(facts)}::tsquery`).join("")}`;
  // A bound role sees the conversations that it has written itself.
  const own = bound(() => "made_by = current_user").join("");
  const conversations = `scope = current_setting('${conversationsSetting}', true)${own}`;
  return [
    ...documentTables.map((table) => ["SELECT", table, documents] as const),
    ...Object.entries(otherPolicies).map(([table, condition]) => ["SELECT", table, condition] as const),
    ...conversationTables.map((table) => ["ALL", table, conversations] as const),
    ["SELECT", "caller_keys", keysCondition],
    // A user records the ends of its own transactions, and may neither see nor delete those of others.
    ["ALL", "commits", "made_by = current_user"],
  ];
}

/**
 * Lets the rows of documents be seen within a scope alone, by all but the owner of the tables. Tables without a policy, such
 * as those of the workers' queue, show nothing to others. Safe to repeat. On a cluster its nodes get the same policies.
 *
 * @param schema quoted where needed.
 * @param secured fields that are secured from now on, whose facts are written into all rows. Default: as they are.
 */
export async function secureTables(session: Session, schema: string, secured?: SecuredFields): Promise<void> {
  // Tables and their rows are changed in one transaction, in which a cluster then goes from node to node.
  await session.query("SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
  const found = await session.query<{ table: string; isSecured: boolean }>(
    `SELECT relname AS "table", relrowsecurity AS "isSecured" FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace($1)`,
    [schema],
  );
  const tables = new Set(found.map(({ table }) => table));
  for (const { table } of found.filter(({ isSecured: done }) => !done)) {
    await session.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
  }
  for (const table of authored) {
    await session.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS made_by name NOT NULL DEFAULT current_user`);
  }
  const [roles] = await session.query<{ value: string }>("SELECT value FROM meta WHERE name = 'roles'");
  const policies = policiesOf(JSON.parse(roles?.value ?? "{}") as RoleScopes);
  for (const [commands, table, condition] of policies.filter((policy) => tables.has(policy[1]))) {
    await session.query(`DROP POLICY IF EXISTS citewell_scope ON ${table}`);
    await session.query(`CREATE POLICY citewell_scope ON ${table} FOR ${commands} USING (${condition})`);
  }
  // An earlier version looked the documents of a scope up.
  await session.query("DROP FUNCTION IF EXISTS visible_documents()");
  if (!secured) return;
  for (const table of documentTables.filter((name) => tables.has(name))) {
    const document = `${table}.${table === "documents" ? "id" : "document"}`;
    await session.query(
      `UPDATE ${table} SET facts = every.facts FROM (${everyFactSql(secured)}) AS every WHERE every.document = ${document}`,
    );
  }
}

const isOpenTable = "tables.relkind IN ('r', 'p') AND NOT tables.relrowsecurity";

/**
 * Whether the tables are secured. For their owner, who can still secure it, a single open table counts: one that was made
 * before it had a policy, for example.
 */
export async function isSecured(session: Session): Promise<boolean> {
  const [found] = await session.query<{ secured: boolean }>(
    `SELECT documents.relrowsecurity AND NOT (pg_has_role(documents.relowner, 'USAGE') AND EXISTS (
       SELECT FROM pg_class AS tables WHERE tables.relnamespace = documents.relnamespace AND ${isOpenTable})) AS secured
     FROM pg_class AS documents WHERE documents.oid = to_regclass('documents')`,
  );
  return found!.secured;
}

/** Whether row-level security was ever turned on for the store. */
export async function hasPolicies(session: Session): Promise<boolean> {
  const [found] = await session.query<{ secured: boolean }>(
    "SELECT relrowsecurity AS secured FROM pg_class WHERE oid = to_regclass('documents')",
  );
  return found?.secured === true;
}

/** Whether policies decide which rows this user sees: not so for the owner of the tables, and for superusers. */
export async function isRestricted(session: Session): Promise<boolean> {
  const [found] = await session.query<{ restricted: boolean }>(
    "SELECT row_security_active(to_regclass('documents')) AS restricted",
  );
  return found!.restricted;
}

/** Whether a scope is that of all documents, which a run that writes asks for. */
export function isEverything(scope: Filter): boolean {
  const expression = expressionOf(scope);
  const [only, ...others] = "all" in expression ? expression.all : [expression];
  if (only === undefined || others.length > 0 || !("field" in only)) return false;
  const { name, condition } = only.field;
  return (
    name === "uri" && typeof condition === "object" && condition !== null && "exists" in condition && condition.exists
  );
}

/**
 * Settings of a transaction that sees the documents of a scope alone.
 *
 * @throws OptionsError for a scope without a value that a secured field must equal.
 */
export function scopeSettings(scope: Filter, secured: SecuredFields): Settings {
  return { [scopeSetting]: scopeFacts(scope, secured) };
}

/** The facts that a document within a scope must have, as a `tsquery`. */
export function scopeFacts(scope: Filter, secured: SecuredFields): string {
  const facts = factsQuery(equalities(expressionOf(scope)), secured);
  if (facts !== undefined) return facts;
  const fields = secured === "all" ? "a field" : `a field of ${secured.join(", ")}`;
  const message = `With rowLevelSecurity a scope says which value ${fields} has, such as scoped({ metadata: { tenant: id } })`;
  throw new OptionsError("options", message);
}

/** The values of each condition that every document must meet by equality; what else a scope says is tested by the queries. */
function equalities(expression: Expression): FilterField[][] {
  if ("all" in expression) return expression.all.flatMap(equalities);
  if (!("field" in expression)) return [];
  const { name, condition } = expression.field;
  const isScalar = typeof condition !== "object" || condition === null;
  if (!isScalar && !("in" in condition)) return [];
  const values = isScalar ? [condition] : condition.in;
  return [values.flatMap((value) => valueFields(columnText(name), value).filter(({ kind }) => kind !== "moment"))];
}
