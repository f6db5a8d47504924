import { types } from "node:util";
import type { z } from "zod";
import { asError, OptionsError } from "./errors.js";
import type { Document, Json, Metadata } from "./types.js";

/** Deepest nesting of metadata. SQLite reads JSON up to 1,000 levels deep. */
const maxDepth = 100;
/** Maximum values in one document's metadata. A few objects that are used many times may unfold to any number. */
const maxValues = 1_000_000;

/**
 * Checks what a store looks documents up by: its uri, title, source and media type, and its metadata: that it is JSON, as
 * `jsonMetadata` says, and fits the schema of the store, if that has one. A document without metadata counts as one with none
 * of the fields.
 *
 * @throws OptionsError with all that is wrong, also for metadata nested more than 100 levels deep.
 */
export function checkDetails(schema: z.ZodType | undefined, document: Omit<Document, "text">): void {
  const { uri, title, source, mediaType } = document;
  for (const [name, text] of Object.entries({ uri, title, source, mediaType })) checkWellFormed(uri, name, text);
  const metadata = document.metadata === undefined ? {} : jsonMetadata(uri, document.metadata);
  const parsed = schema?.safeParse(metadata);
  if (!parsed || parsed.success) return;
  const problems = parsed.error.issues.map(({ path, message }) => `${["metadata", ...path].join(".")}: ${message}`);
  throw new OptionsError("options", `${uri}: ${problems.join("; ")}`, { cause: parsed.error });
}

/**
 * Refuses unpaired surrogates: databases that store UTF-8 cannot hold them in the texts that they compare.
 *
 * @throws OptionsError for a text that has one.
 */
export function checkWellFormed(uri: string, name: string, text: string | undefined): void {
  if (text === undefined || text.isWellFormed()) return;
  const message = `${JSON.stringify(uri)}: the ${name} has half of a surrogate pair. Pass it through toWellFormed()`;
  throw new OptionsError("options", message);
}

/**
 * A copy of metadata as a store keeps it. A `Date` becomes its ISO 8601 text, and a field that is `undefined` is left out.
 *
 * @param uri names the document in errors.
 * @throws OptionsError with the field's path for all else that JSON would lose or change: numbers that are not finite,
 * BigInts, functions, symbols, Maps, Sets and other instances of classes, fields that are not enumerable, gaps in lists, and
 * cycles.
 */
export function jsonMetadata(uri: string, metadata: unknown): Metadata {
  const refuse = (path: readonly string[], problem: string): never => {
    throw new OptionsError("options", `${uri}: ${["metadata", ...path].join(".")} ${problem}`);
  };
  let values = 0;
  const holders = new Set<object>();
  const within = (holder: object, path: readonly string[], copied: () => Json): Json => {
    if (holders.has(holder)) refuse(path, "holds itself, which JSON cannot: leave it out");
    if (holders.size >= maxDepth) refuse([], `is nested more than ${maxDepth} levels deep`);
    holders.add(holder);
    const copy = copied();
    holders.delete(holder);
    return copy;
  };
  const copy = (value: unknown, path: readonly string[]): Json => {
    if (++values > maxValues) refuse([], `has more than ${maxValues} values`);
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number") return Number.isFinite(value) ? value : refuse(path, mustBeJson(String(value)));
    if (typeof value !== "object") return refuse(path, mustBeJson(article(typeof value)));
    if (types.isDate(value)) {
      return Number.isNaN(value.getTime()) ? refuse(path, mustBeJson("an invalid Date")) : value.toISOString();
    }
    if (Array.isArray(value)) {
      // Not `map`, which passes over gaps.
      return within(value, path, () =>
        Array.from(value, (element: unknown, index) => copy(element, [...path, String(index)])),
      );
    }
    if (!isPlain(value)) return refuse(path, mustBeJson(`an instance of ${className(value)}`));
    const fields = value as Readonly<Record<string, unknown>>;
    const copiedFields = () => {
      const entries: [string, Json][] = [];
      for (const name of Object.keys(fields)) {
        const fieldPath = [...path, name];
        const field = readOrRefuse(() => fields[name], fieldPath);
        if (field !== undefined) entries.push([name, copy(field, fieldPath)]);
      }
      return Object.fromEntries(entries);
    };
    const hidden = Object.getOwnPropertyNames(value).find((name) => !isEnumerable(value, name));
    if (hidden !== undefined) {
      refuse([...path, hidden], "is not enumerable, and so would be lost: write it as a plain field, or leave it out");
    }
    if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, mustBeJson("an object with symbols as names"));
    return within(value, path, copiedFields);
  };
  const readOrRefuse = (read: () => unknown, path: readonly string[]): unknown => {
    try {
      return read();
    } catch (error) {
      return refuse(path, `cannot be read: ${asError(error).message}`);
    }
  };
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata) || types.isDate(metadata)) {
    return refuse([], "must be an object with names and JSON values");
  }
  return copy(metadata, []) as Metadata;
}

function isEnumerable(value: object, name: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, name);
}

/** Whether an object has no class: an object literal of any realm, or one without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function className(value: object): string {
  const { constructor } = value as { readonly constructor?: unknown };
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class";
}

function article(kind: string): string {
  return kind === "undefined" ? kind : `a ${kind}`;
}

function mustBeJson(got: string): string {
  return `must be a JSON value (got ${got}): write it as text, a number, a list or a plain object`;
}
