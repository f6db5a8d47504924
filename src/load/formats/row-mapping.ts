import { z } from "zod";
import { listOption, optionsOf } from "../../core/options.js";
import type { Json, Metadata } from "../../core/types.js";

const Columns = z.union([z.string().min(1), listOption(z.array(z.string().min(1)).min(1))]);

/** Maps columns of a row, or fields of a JSON object, to the parts of a document; dots lead into an object: `meta.title`. */
export interface RowMapping {
  /**
   * Columns that are the text, in this order, with an empty line between each two. Default: the first of text, content,
   * body, passage, abstract and description that there is, or else all columns, as lines of `name: value`.
   */
  readonly text?: string | readonly string[];
  /** Column that is the title. Default: the first of title, headline, subject and name that there is. */
  readonly title?: string;
  /**
   * Column that names the row: a document's URI is that of the file with this behind a `#`. Default: the first of _id, id,
   * key and uuid that there is, or else the row's number, by which every row below a new one gets another name.
   */
  readonly id?: string;
  /** Column that is the document's URI, whole, instead. Default: none. */
  readonly uri?: string;
  /** Columns to keep as metadata. Default: all but those of the text and the title. */
  readonly metadata?: readonly string[];
}

export const rowMapping = optionsOf<RowMapping>()({
  text: Columns.optional(),
  title: z.string().min(1).optional(),
  id: z.string().min(1).optional(),
  uri: z.string().min(1).optional(),
  metadata: listOption(z.array(z.string().min(1))).optional(),
});

export type Row = Readonly<Record<string, Json>>;

/** The parts of a document that a row gives. */
export interface MappedRow {
  readonly text: string;
  readonly title: string | undefined;
  /** The row's own name, if a column has one. */
  readonly id: string | undefined;
  readonly uri: string | undefined;
  readonly metadata: Metadata | undefined;
}

const usualTexts = ["text", "content", "body", "passage", "abstract", "description"];
const usualTitles = ["title", "headline", "subject", "name"];
const usualIds = ["_id", "id", "key", "uuid"];

/**
 * Maps a row to the parts of a document. A column may lead into an object, with dots: `meta.title`.
 *
 * @throws Error that names the column that the mapping asks for and the row lacks.
 */
export function mapRow(row: Row, mapping: RowMapping): MappedRow {
  const usual = (names: readonly string[]) => names.find((name) => isFilled(row[name]));
  const textColumns = mapping.text === undefined ? usual(usualTexts) : mapping.text;
  const title = mapping.title ?? usual(usualTitles);
  const id = mapping.id ?? usual(usualIds);
  const texts = textColumns === undefined ? undefined : [textColumns].flat();
  const parts = texts?.map((column) => asText(valueAt(row, column))).filter((part) => part !== "");
  const trimmed = (column: string | undefined) =>
    (column !== undefined && asText(valueAt(row, column)).trim()) || undefined;
  const taken = new Set([...(texts ?? []), title]);
  const kept = mapping.metadata ?? Object.keys(row).filter((column) => !taken.has(column));
  const metadata = Object.fromEntries(kept.map((column) => [column, valueAt(row, column)]));
  return {
    text: parts?.join("\n\n") ?? allColumns(row, id),
    title: trimmed(title),
    id: trimmed(id),
    uri: trimmed(mapping.uri),
    metadata: kept.length > 0 ? metadata : undefined,
  };
}

function valueAt(row: Row, column: string): Json {
  if (Object.hasOwn(row, column)) return row[column]!;
  let value: Json | undefined = row;
  for (const name of column.split(".")) {
    const inside: Json | undefined = value;
    value = isObject(inside) && Object.hasOwn(inside, name) ? inside[name] : undefined;
  }
  if (value !== undefined) return value;
  throw new Error(noSuchColumn(column, Object.keys(row)));
}

/** All columns that a mapping names. */
export function mappedColumns({ text = [], title, id, uri, metadata = [] }: RowMapping): string[] {
  return [text, title ?? [], id ?? [], uri ?? [], metadata].flat();
}

export function noSuchColumn(column: string, columns: readonly string[]): string {
  return `there is no column ${JSON.stringify(column)}: it has ${columns.join(", ") || "none"}`;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFilled(value: Json | undefined): boolean {
  return (typeof value === "string" && value.trim() !== "") || typeof value === "number";
}

function asText(value: Json): string {
  if (value === null) return "";
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join("\n\n");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function allColumns(row: Row, id: string | undefined): string {
  const lines = Object.entries(row).flatMap(([column, value]) => {
    const text = asText(value);
    return column === id || text.trim() === "" ? [] : [`${column}: ${text}`];
  });
  return lines.join("\n");
}
