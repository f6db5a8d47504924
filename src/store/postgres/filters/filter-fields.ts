import type { Document, Json } from "../../../core/types.js";
import { columnText } from "../../../postgres/column-text.js";

/** One value of a document that filters test, as a row of `fields` holds it. */
export interface FilterField {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean" | "null" | "moment" | "list" | "object";
  readonly text?: string;
  readonly number?: number;
}

/** One code point more than a filter may have, so that a longer text equals no filter. */
const maxTextLength = 1025;

/**
 * The fields of a document and the elements of its lists. A leading dot marks metadata, as opposed to the document's own
 * properties. A text that names a date or a time is also a moment.
 */
export function filterFields({ uri, title, source, mediaType, metadata = {} }: Document): FilterField[] {
  const own = Object.entries({ uri, title, source, mediaType }).filter(([, value]) => value !== undefined);
  const given = Object.entries(metadata).map(([name, value]) => [`.${name}`, value] as const);
  return [...(own as [string, string][]), ...given].flatMap(([name, value]) => {
    const values = Array.isArray(value) ? (value as readonly Json[]) : [];
    return [value, ...new Set(values)].flatMap((field) => valueFields(columnText(name), field));
  });
}

/** The rows of one value of a field. */
export function valueFields(name: string, value: Json): FilterField[] {
  if (typeof value === "number") return [{ name, kind: "number", number: value }];
  if (typeof value === "boolean") return [{ name, kind: "boolean", number: Number(value) }];
  if (value === null) return [{ name, kind: "null", number: 0 }];
  if (typeof value === "object") return [{ name, kind: Array.isArray(value) ? "list" : "object" }];
  const text = columnText(
    Array.from(value.slice(0, 2 * maxTextLength))
      .slice(0, maxTextLength)
      .join(""),
  );
  const moment = momentOf(value);
  const row: FilterField = { name, kind: "text", text };
  return moment === undefined ? [row] : [row, { name, kind: "moment", number: moment }];
}

const moment = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?(Z|[+-](?:0\d|1[0-4]):[0-5]\d))?)?$/i;

/** Milliseconds since 1970 of an ISO 8601 date or time; UTC without an offset. `undefined` for any other text. */
export function momentOf(text: string): number | undefined {
  const [, date, time = "00:00", offset = "Z"] = moment.exec(text) ?? [];
  if (date === undefined) return undefined;
  const day = Date.parse(date);
  // Date.parse() takes February 30 for none, but engines may take it for March 1.
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) return undefined;
  const parsed = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(parsed) ? undefined : parsed;
}
