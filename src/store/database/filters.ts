import type { Condition, Filter, Scalar } from "../../core/filter.js";

/** A piece of SQL with the values of its parameters, in order. Text from a filter never becomes SQL. */
export interface Sql {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** A condition on one field, by the field's name in the table `fields`. */
export interface FieldCondition {
  readonly name: string;
  readonly condition: Condition;
}

/** A filter as a boolean expression over conditions on single fields. */
export type Expression =
  | { readonly all: readonly Expression[] }
  | { readonly any: readonly Expression[] }
  | { readonly not: Expression }
  | { readonly field: FieldCondition };

export function expressionOf({ metadata = {}, all, any, not, ...parts }: Filter): Expression {
  const fields = [
    ...Object.entries(parts),
    ...Object.entries(metadata).map(([name, condition]) => [`.${name}`, condition] as const),
  ] as readonly (readonly [string, Condition])[];
  return {
    all: [
      ...fields.map(([name, condition]) => fieldExpression(name, condition)),
      ...(all ?? []).map(expressionOf),
      ...(any ? [{ any: any.map(expressionOf) }] : []),
      ...(not ? [{ not: expressionOf(not) }] : []),
    ],
  };
}

function fieldExpression(name: string, condition: Condition): Expression {
  const absent = typeof condition === "object" && condition !== null && "exists" in condition && !condition.exists;
  return absent ? { not: fieldExpression(name, { exists: true }) } : { field: { name, condition } };
}

/** The condition that the document whose id is in `column` matches a filter: 0 or 1, never NULL. */
export function documentMatches(expression: Expression, column: string): Sql {
  if ("field" in expression) {
    const { name, condition } = expression.field;
    const { sql, parameters } = valueMatches(condition);
    // The plus stops SQLite from using the index by name and value, which would read all matching documents to check one.
    return {
      sql: `EXISTS (SELECT 1 FROM fields WHERE document = ${column} AND +name = ? AND ${sql})`,
      parameters: [name, ...parameters],
    };
  }
  if ("not" in expression) {
    const { sql, parameters } = documentMatches(expression.not, column);
    return { sql: `NOT (${sql})`, parameters };
  }
  return "all" in expression
    ? joined("AND", expression.all, (one) => documentMatches(one, column))
    : joined("OR", expression.any, (one) => documentMatches(one, column));
}

/** The ids of all documents that meet the condition, as one JSON array in the column `ids`. */
export function matchingDocuments({ name, condition }: FieldCondition): Sql {
  const { sql, parameters } = valueMatches(condition);
  return {
    sql: `SELECT json_group_array(document) AS ids FROM fields WHERE name = ? AND ${sql}`,
    parameters: [name, ...parameters],
  };
}

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** The condition on `kind` and `value` of a row of `fields`. */
function valueMatches(condition: Condition): Sql {
  if (typeof condition !== "object" || condition === null) return oneOf([condition]);
  if ("in" in condition) return oneOf(condition.in);
  if ("prefix" in condition) return startsWith(condition.prefix);
  if ("exists" in condition) return { sql: "1", parameters: [] };
  const bounds = Object.entries(condition) as readonly (readonly [keyof typeof operators, string | number])[];
  const moments = typeof bounds[0]![1] === "string";
  const within = joined("AND", bounds, ([bound, limit]) => ({
    sql: `value ${operators[bound]} ${moments ? "julianday(?)" : "?"}`,
    parameters: [limit],
  }));
  return { sql: `kind = '${moments ? "moment" : "number"}' AND ${within.sql}`, parameters: within.parameters };
}

function oneOf(values: readonly Scalar[]): Sql {
  const kinds: readonly (readonly [string, readonly (string | number)[]])[] = [
    ["text", values.filter((value) => typeof value === "string")],
    ["number", values.filter((value) => typeof value === "number")],
    ["boolean", values.filter((value) => typeof value === "boolean").map(Number)],
    ["null", values.includes(null) ? [0] : []],
  ];
  const given = kinds.filter(([, some]) => some.length > 0);
  return joined("OR", given, ([kind, some]) => {
    if (some.length === 1) return { sql: `kind = '${kind}' AND value = ?`, parameters: some };
    // One parameter for any number of values: SQLite accepts at most 32,766 parameters.
    const list = "SELECT value FROM json_each(?)";
    return { sql: `kind = '${kind}' AND value IN (${list})`, parameters: [JSON.stringify(some)] };
  });
}

function startsWith(prefix: string): Sql {
  const end = firstAfter(prefix);
  return end === undefined
    ? { sql: "kind = 'text' AND value >= ?", parameters: [prefix] }
    : { sql: "kind = 'text' AND value >= ? AND value < ?", parameters: [prefix, end] };
}

/** The first text that sorts after everything with `prefix`. SQLite sorts by code point. */
function firstAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (one) => one.codePointAt(0)!);
  for (let last = codePoints.pop(); last !== undefined; last = codePoints.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...codePoints, next);
  }
  return undefined;
}

function joined<Item>(operator: "AND" | "OR", items: readonly Item[], itemSql: (item: Item) => Sql): Sql {
  // An empty AND is true, an empty OR is false.
  if (items.length === 0) return { sql: operator === "AND" ? "1" : "0", parameters: [] };
  const parts = items.map(itemSql);
  return {
    sql: balanced(
      operator,
      parts.map(({ sql }) => `(${sql})`),
    ),
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

/** SQLite reads a chain of operators as one level for each, and takes 1,000 levels; halves of halves have few. */
function balanced(operator: "AND" | "OR", parts: readonly string[]): string {
  if (parts.length <= 8) return `(${parts.join(` ${operator} `)})`;
  const middle = parts.length >> 1;
  return `(${balanced(operator, parts.slice(0, middle))} ${operator} ${balanced(operator, parts.slice(middle))})`;
}
