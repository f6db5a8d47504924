import { createHash } from "node:crypto";
import type { Document } from "../../../core/types.js";
import { type FilterField, filterFields } from "./filter-fields.js";

/** Names of the secured fields as `fields` has them; `all` for those of every document. */
export type SecuredFields = "all" | readonly string[];

/** Kinds of values of which a scope can say that a field equals them. */
const comparable: readonly FilterField["kind"][] = ["text", "number", "boolean", "null"];

const isSecured = ({ name, kind }: FilterField, secured: SecuredFields) =>
  comparable.includes(kind) && (secured === "all" || secured.includes(name));

/** Bytes of the SHA-256 that stands for a value of a field: as many as make whole characters in base64. */
const bytes = 9;

/** A value of a field, short enough to stand in every row of its document. */
function factOf({ name, kind, text, number = 0 }: FilterField): string {
  const value = Buffer.alloc(8);
  // There is no negative zero.
  value.writeDoubleBE(number + 0);
  const whole = `${Buffer.byteLength(name)} ${name} ${kind} ${text ?? value.toString("hex")}`;
  return `'${createHash("sha256").update(whole).digest().subarray(0, bytes).toString("base64")}'`;
}

/** The same in SQL, of a row `f` of `fields`, without the quotes. */
const factSql = `encode(substring(sha256(convert_to(
  octet_length(f.name) || ' ' || f.name || ' ' || f.kind || ' ' || coalesce(f.text, encode(float8send(f.number + 0), 'hex')),
  'UTF8')) FOR ${bytes}), 'base64')`;

/** The facts of each document as a query with `document` and `facts`, for rows that were written without. */
export function everyFactSql(secured: SecuredFields): string {
  const kinds = comparable.map((kind) => `'${kind}'`).join(", ");
  const names = secured === "all" ? "true" : `f.name = ANY('${arrayOf(secured)}'::text[])`;
  return `SELECT f.document, coalesce(array_to_tsvector(array_agg(${factSql}) FILTER (WHERE f.kind IN (${kinds}) AND ${names})),
    ''::tsvector) AS facts FROM fields f GROUP BY f.document`;
}

const arrayOf = (names: readonly string[]) =>
  `{${names.map((name) => `"${name.replaceAll(/["\\]/g, "\\$&").replaceAll("'", "''")}"`).join(",")}}`;

/** The facts of a document as a `tsvector`, as PostgreSQL writes it; null in a store without row-level security. */
export function factsOf(document: Document, secured: SecuredFields | undefined): string | null {
  if (!secured) return null;
  const facts = filterFields(document).filter((field) => isSecured(field, secured));
  return [...new Set(facts.map(factOf))].toSorted().join(" ");
}

/**
 * Conditions of which each is met by one of its values, as a `tsquery` on facts. Conditions on fields that are not secured are
 * left out. Undefined when none is left.
 */
export function factsQuery(
  conditions: readonly (readonly FilterField[])[],
  secured: SecuredFields,
): string | undefined {
  const kept = conditions
    .map((values) => values.filter((value) => isSecured(value, secured)).map(factOf))
    .filter((facts) => facts.length > 0);
  return kept.length === 0 ? undefined : kept.map((facts) => `(${facts.join(" | ")})`).join(" & ");
}
