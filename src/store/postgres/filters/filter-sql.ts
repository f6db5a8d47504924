import type { Condition, Filter, Scalar } from "../../../core/filter.js";
import { type Expression, expressionOf } from "../../database/filters.js";
import { columnText } from "../../../postgres/column-text.js";
import { momentOf } from "./filter-fields.js";

/** Values of a statement, in order. Nothing that a caller wrote becomes SQL: `add` returns the `$1` that stands for a value. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/**
 * How a filter is tested. `find`: PostgreSQL may begin with the documents that match. `check`: row by row, in the order in
 * which rows come, so that a search by distance that asks for ten rows tests a few and not all.
 */
export type FilterUse = "find" | "check";

/** The condition that the document whose id is `column` matches a filter: true or false, never NULL. */
export function filterSql(filter: Filter, column: string, use: FilterUse, parameters: Parameters): string {
  return matches(expressionOf(filter), column, use, parameters);
}

function matches(expression: Expression, column: string, use: FilterUse, parameters: Parameters): string {
  const inner = (one: Expression) => matches(one, column, use, parameters);
  if ("not" in expression) return `NOT (${inner(expression.not)})`;
  if ("all" in expression) return joined("AND", expression.all.map(inner));
  if ("any" in expression) return joined("OR", expression.any.map(inner));
  const { name, condition } = expression.field;
  // A cluster refuses a subquery whose tables PostgreSQL leaves out.
  if (typeof condition === "object" && condition !== null && "in" in condition && condition.in.length === 0)
    return "false";
  const named = `f.document = ${column} AND f.name = ${parameters.add(columnText(name))}`;
  const exists = `EXISTS (SELECT FROM fields f WHERE ${named} AND ${valueMatches(condition, parameters)}`;
  // IS TRUE is never turned into a join, and a condition on the outer row alone never into a hash of all documents.
  return use === "find" ? `${exists})` : `(${exists} AND ${column} IS NOT NULL) IS TRUE)`;
}

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** The condition on `kind`, `text` and `number` of a row of `fields`. */
function valueMatches(condition: Condition, parameters: Parameters): string {
  if (typeof condition !== "object" || condition === null) return oneOf([condition], parameters);
  if ("in" in condition) return oneOf(condition.in, parameters);
  if ("prefix" in condition) return startsWith(columnText(condition.prefix), parameters);
  if ("exists" in condition) return "true";
  const bounds = Object.entries(condition) as readonly (readonly [keyof typeof operators, string | number])[];
  const ofMoments = typeof bounds[0]![1] === "string";
  const within = bounds.map(([bound, limit]) => {
    const number = typeof limit === "string" ? momentOf(limit) : limit;
    return `f.number ${operators[bound]} ${parameters.add(number)}::float8`;
  });
  return joined("AND", [`f.kind = '${ofMoments ? "moment" : "number"}'`, ...within]);
}

function oneOf(values: readonly Scalar[], parameters: Parameters): string {
  const texts = values.filter((value) => typeof value === "string").map(columnText);
  const numbers = (kind: "number" | "boolean" | "null", some: readonly number[]) =>
    some.length === 0 ? [] : [`f.kind = '${kind}' AND f.number = ANY(${parameters.add(some)}::float8[])`];
  return joined("OR", [
    ...(texts.length === 0 ? [] : [textIn(texts, parameters)]),
    ...numbers(
      "number",
      values.filter((value) => typeof value === "number"),
    ),
    ...numbers("boolean", values.filter((value) => typeof value === "boolean").map(Number)),
    ...numbers("null", values.includes(null) ? [0] : []),
  ]);
}

// The beginnings of texts are indexed, since a row of an index has an end.

function textIn(texts: readonly string[], parameters: Parameters): string {
  const beginnings = parameters.add(texts.map((text) => Array.from(text).slice(0, 256).join("")));
  const within = `f.text IS NOT NULL AND f.kind = 'text' AND left(f.text, 256) = ANY(${beginnings}::text[])`;
  return texts.every((text) => text.length < 256)
    ? within
    : `${within} AND f.text = ANY(${parameters.add(texts)}::text[])`;
}

function startsWith(prefix: string, parameters: Parameters): string {
  const whole = parameters.add(prefix);
  const beginning = Array.from(prefix).slice(0, 256).join("");
  // The last code point of all, as often as an indexed beginning is long: nothing with the prefix sorts behind it.
  const [first, last] = [parameters.add(beginning), parameters.add(beginning + "\u{10ffff}".repeat(256))];
  return `f.text IS NOT NULL AND left(f.text, 256) >= ${first} AND left(f.text, 256) <= ${last} AND starts_with(f.text, ${whole})`;
}

function joined(operator: "AND" | "OR", parts: readonly string[]): string {
  // An empty AND is true, an empty OR is false.
  if (parts.length === 0) return operator === "AND" ? "true" : "false";
  return `(${parts.map((part) => `(${part})`).join(` ${operator} `)})`;
}
