import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { type Expression, expressionOf } from "../database/filters.js";
import { columnText } from "./columns/column-text.js";
import type { Session, Work } from "./connection/server.js";
import { type FilterField, valueFields } from "./filters/filter-fields.js";

/** Which rows of a table the scope of a transaction shows, to all but the owner of the tables. */
const policies = {
  documents: "id IN (SELECT visible_documents())",
  texts: "document IN (SELECT visible_documents())",
  fields: "document IN (SELECT visible_documents())",
  chunks: "document IN (SELECT visible_documents())",
  embeddings: "document IN (SELECT visible_documents())",
  // Only those of chunks that the policy of chunks shows.
  postings: "chunk IN (SELECT label FROM chunks)",
  // Only those who write need these.
  vectors: "false",
  notes: "false",
};

/** Names the scope whose conversations a transaction sees and changes. */
export const conversationsSetting = "citewell.conversations";
const conversations = `scope = current_setting('${conversationsSetting}', true)`;
const conversationPolicies = { conversations, exchanges: conversations, approvals: conversations };

/**
 * The documents that meet all conditions of the setting `citewell.scope`; none where it is not set. It reads as the owner of
 * the tables, since a policy that reads a table with a policy of its own would call itself.
 */
const visibleDocuments = (schema: string) => `
  CREATE OR REPLACE FUNCTION visible_documents() RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = ${schema}, pg_temp AS $$
    WITH scope AS MATERIALIZED (SELECT nullif(current_setting('citewell.scope', true), '')::jsonb AS given),
    asked AS MATERIALIZED (
      SELECT a.* FROM scope, jsonb_to_recordset(given -> 'values')
        AS a (condition integer, name text, kind text, text text, number double precision))
    SELECT document FROM scope, (
      SELECT f.document, a.condition FROM asked a JOIN fields f
        ON f.name = a.name COLLATE "C" AND f.kind = a.kind COLLATE "C" AND left(f.text, 256) = left(a.text, 256) COLLATE "C"
          AND f.text = a.text COLLATE "C"
      UNION
      SELECT f.document, a.condition FROM asked a JOIN fields f
        ON f.name = a.name COLLATE "C" AND f.kind = a.kind COLLATE "C" AND f.number = a.number) AS met
    GROUP BY document, given HAVING count(*) = (given -> 'conditions')::integer
  $$`;

/** Lets the rows of documents be seen within a scope alone, by all but the owner of the tables. Does again what is done. */
export async function secureTables(session: Session, schema: string): Promise<void> {
  await session.query(visibleDocuments(schema));
  const read = Object.entries(policies).map((policy) => ["SELECT", ...policy] as const);
  const kept = Object.entries(conversationPolicies).map((policy) => ["ALL", ...policy] as const);
  for (const [commands, table, condition] of [...read, ...kept]) {
    const [found] = await session.query<{ isOpen: boolean }>(
      `SELECT NOT relrowsecurity AS "isOpen" FROM pg_class WHERE oid = to_regclass($1)`,
      [`${schema}.${table}`],
    );
    if (!found?.isOpen) continue;
    await session.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
    await session.query(`CREATE POLICY citewell_scope ON ${table} FOR ${commands} USING (${condition})`);
  }
}

/** Whether the tables of documents are secured. */
export async function isSecured(session: Session): Promise<boolean> {
  const [found] = await session.query<{ secured: boolean }>(
    "SELECT relrowsecurity AS secured FROM pg_class WHERE oid = to_regclass('documents')",
  );
  return found!.secured;
}

/**
 * Runs reading work in a transaction that sees the documents of a scope alone.
 *
 * @throws OptionsError for a scope without a value that a field must equal.
 */
export function withinScope(scope: Filter): <Result>(work: Work<Result>) => Work<Result> {
  const conditions = equalities(expressionOf(scope));
  if (conditions.length === 0) {
    const wayOut = "such as scoped({ metadata: { tenant: id } })";
    throw new OptionsError("options", `With rowLevelSecurity a scope says which value a field has, ${wayOut}`);
  }
  const values = conditions.flatMap((fields, condition) => fields.map((field) => ({ condition, ...field })));
  return withSetting("citewell.scope", JSON.stringify({ conditions: conditions.length, values }));
}

/** Runs reading work in a transaction that sees the conversations of a scope alone. */
export function withinConversations(scope: string): <Result>(work: Work<Result>) => Work<Result> {
  return withSetting(conversationsSetting, scope);
}

function withSetting(name: string, value: string): <Result>(work: Work<Result>) => Work<Result> {
  return (work) => async (session) => {
    await session.query("BEGIN READ ONLY");
    try {
      await session.query(`SELECT set_config('${name}', $1, true)`, [value]);
      return await work(session);
    } finally {
      // Nothing was written. The setting ends with the transaction, as it does with the connection where that is lost.
      await session.query("ROLLBACK").catch(() => {});
    }
  };
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
