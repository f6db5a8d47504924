import { types } from "node:util";
import { z } from "zod";

/** A JSON Schema of an object. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Whether a value is an object with fields: not null, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Maximum depth of lists and objects that are sent: code that walks deeper ones overflows the stack somewhere. */
export const maxDepth = 100;

/**
 * Whether a value nests lists and objects deeper than that, or holds itself. Goes level by level, so that it needs no
 * stack and visits shared values once per level.
 */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= maxDepth; depth++) {
    const objects = new Set(level.filter((item) => typeof item === "object" && item !== null));
    if (objects.size === 0) return false;
    level = [...objects].flatMap((item) => Object.values(item));
  }
  return true;
}

/** Value of a JSON text; `undefined` if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON Schema of what a zod schema reads, as models are told it. Throws what zod does for a schema that has none. */
export function jsonSchemaOf(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
  return described;
}

/** JSON with the fields of every object in order, so that values which say the same have the same text. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isRecord(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  );
}

/**
 * Why an object may have fields that reading its names does not show, as instances of classes have getters; undefined for one
 * as it is written in braces, and for what is no object. A condition among such fields would be taken for missing.
 */
export function hiddenFields(given: unknown): string | undefined {
  if (!isRecord(given)) return undefined;
  if (types.isProxy(given)) return "must be a plain object, and is a proxy: copy its fields into { … }";
  if (!isRoot(Object.getPrototypeOf(given))) {
    return "must be a plain object, and has a prototype of its own: copy its fields into { … }";
  }
  if (Object.getOwnPropertySymbols(given).length > 0) return "must have no symbols as names";
  const hidden = Object.entries(Object.getOwnPropertyDescriptors(given)).find(([, { enumerable }]) => !enumerable);
  return hidden && `${JSON.stringify(hidden[0])} must be left out or have a value that can be seen`;
}

/** Whether a prototype is the one of all plain objects, in this realm or in another, or none. */
function isRoot(prototype: unknown): boolean {
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}
