import { isRecord } from "../../../../core/json.js";
import { resolved, textOf, typeOf, type Schema } from "./json-schema.js";

/** A schema that requires itself has no finite value, and one that requires itself twice doubles at every level. */
const maxDepth = 32;
export const maxValues = 2000;

/**
 * The value of a JSON Schema that says least: null where it is allowed, else the first allowed value, 0, false, or what is
 * empty. It satisfies the schema except for a `pattern`, and one that has only endless values.
 */
export function neutralValue(schema: Schema, root: Schema, room: Room = { left: maxValues }): unknown {
  return valueWithin(schema, { root, room }, 0) ?? null;
}

/** Counts the values that may still be made. */
export interface Room {
  left: number;
}

interface Making {
  /** Root schema, at which `#/…` references begin. */
  readonly root: Schema;
  readonly room: Room;
}

function valueWithin(given: Schema, making: Making, depth: number): unknown {
  const { root, room } = making;
  const schema = depth > maxDepth || room.left <= 0 ? undefined : resolved(given, root);
  room.left--;
  if (schema === undefined) return null;
  const { type, const: constant, enum: values, default: usual } = schema;
  if (constant !== undefined) return constant;
  if (type === "null" || (Array.isArray(type) && type.includes("null"))) return null;
  if (Array.isArray(values)) return values.includes(null) ? null : values[0];
  if (usual !== undefined) return usual;
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) {
    const nullable = branches.some((branch) => isRecord(branch) && branch["type"] === "null");
    return nullable || !isRecord(branches[0]) ? null : valueWithin(branches[0], making, depth + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return neutralObject(schema, making, depth);
    case "array":
      return neutralList(schema, making, depth);
    case "boolean":
      return false;
    case "number":
    case "integer":
      return neutralNumber(schema);
    default:
      return neutralText(schema);
  }
}

function neutralObject(schema: Schema, making: Making, depth: number): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  return Object.fromEntries(
    required.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, isRecord(property) ? valueWithin(property, making, depth + 1) : null];
    }),
  );
}

/** Maximum length of a list that is filled up to its `minItems`. */
const maxItems = 1000;

function neutralList({ prefixItems, items, minItems }: Schema, making: Making, depth: number): unknown {
  const places = Array.isArray(prefixItems) ? prefixItems : [];
  const length = Math.min(maxItems, Math.max(places.length, typeof minItems === "number" ? minItems : 0));
  return Array.from({ length }, (_, index) => {
    const item: unknown = places[index] ?? items;
    return isRecord(item) ? valueWithin(item, making, depth + 1) : null;
  });
}

/** The number nearest to 0 within the bounds. */
function neutralNumber(schema: Schema): number {
  const bound = (keyword: string, otherwise: number) => {
    const value = schema[keyword];
    return typeof value === "number" ? value : otherwise;
  };
  const step = bound("multipleOf", 1);
  const least = Math.max(
    Math.ceil(bound("minimum", Number.NEGATIVE_INFINITY) / step),
    Math.floor(bound("exclusiveMinimum", Number.NEGATIVE_INFINITY) / step) + 1,
  );
  const most = Math.min(
    Math.floor(bound("maximum", Number.POSITIVE_INFINITY) / step),
    Math.ceil(bound("exclusiveMaximum", Number.POSITIVE_INFINITY) / step) - 1,
  );
  const steps = Math.min(most, Math.max(least, 0));
  if (steps >= least) return steps * step;
  // No multiple lies between the bounds, such as 0 and 1: the middle does.
  const [low, high] = [bound("minimum", bound("exclusiveMinimum", 0)), bound("maximum", bound("exclusiveMaximum", 0))];
  return (low + high) / 2;
}

const neutralFormats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date: "1970-01-01",
    "date-time": "1970-01-01T00:00:00Z",
    time: "00:00:00Z",
    duration: "PT0S",
    email: "nobody@example.com",
    hostname: "example.com",
    uri: "https://example.com/",
    uuid: "00000000-0000-4000-8000-000000000000",
    ipv4: "0.0.0.0",
    ipv6: "::",
  }),
);

function neutralText({ format, minLength }: Schema): string {
  const least = typeof minLength === "number" ? minLength : 0;
  return neutralFormats.get(textOf(format)) ?? "-".repeat(Math.max(0, Math.min(least, 2000)));
}
