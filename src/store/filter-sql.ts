import type { Condition, Filter, Scalar } from "../filter.js";

/** A piece of SQL with the values of its parameters, in order. No text of a filter ever becomes SQL. */
export interface Sql {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** What a filter asks of one field, by the name that the table `fields` has for it. */
export interface FieldCondition {
  readonly name: string;
  readonly condition: Condition;
}

/** A filter as an expression over conditions of single fields. */
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

/** The condition that the one document whose id is in `column` meets a filter: 0 or 1, never NULL. */
export function documentMeets(expression: Expression, column: string): Sql {
  if ("field" in expression) {
    const { name, condition } = expression.field;
    const { sql, parameters } = valueMeets(condition);
    // The plus keeps SQLite from reading all documents of that name and value for the sake of one.
    return {
      sql: `EXISTS (SELECT 1 FROM fields WHERE document = ${column} AND +name = ? AND ${sql})`,
      parameters: [name, ...parameters],
    };
  }
  if ("not" in expression) {
    const { sql, parameters } = documentMeets(expression.not, column);
    return { sql: `NOT (${sql})`, parameters };
  }
  return "all" in expression
    ? joined("AND", expression.all, (one) => documentMeets(one, column))
    : joined("OR", expression.any, (one) => documentMeets(one, column));
}

/** The ids of all documents that meet the condition, as one JSON array in the column `ids`. */
export function documentsThatMeet({ name, condition }: FieldCondition): Sql {
  const { sql, parameters } = valueMeets(condition);
  return {
    sql: `SELECT json_group_array(document) AS ids FROM fields WHERE name = ? AND ${sql}`,
    parameters: [name, ...parameters],
  };
}

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** What `kind` and `value` of a row have to be. */
function valueMeets(condition: Condition): Sql {
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
    // One parameter however many values: SQLite takes no more than 32,766.
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

/** The first text behind all that start with `prefix`, in SQLite's order, which is that of code points. */
function firstAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (one) => one.codePointAt(0)!);
  for (let last = codePoints.pop(); last !== undefined; last = codePoints.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...codePoints, next);
  }
  return undefined;
}

function joined<Item>(operator: "AND" | "OR", items: readonly Item[], each: (item: Item) => Sql): Sql {
  const made = items.map(each);
  // None is one of nothing.
  if (made.length === 0) return { sql: operator === "AND" ? "1" : "0", parameters: [] };
  return {
    sql: `(${made.map(({ sql }) => `(${sql})`).join(` ${operator} `)})`,
    parameters: made.flatMap(({ parameters }) => parameters),
  };
}
