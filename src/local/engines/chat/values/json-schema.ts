import { z } from "zod";
import { isRecord, parsedJson } from "../../../../core/json.js";

/** A JSON Schema as tools and structured answers bring it: read as far as values are filled in. */
export type Schema = Readonly<Record<string, unknown>>;

const schemaLine = /"answer" fits this JSON Schema: (\{.*\})\s*$/m;

/** The schema that the instructions ask an answer to fit; `undefined` when they name none. */
export function answerSchema(instructions: string): Schema | undefined {
  const schema = parsedJson(schemaLine.exec(instructions)?.[1] ?? "");
  return isRecord(schema) ? schema : undefined;
}

/** References to references further than this are not followed. */
const maxReferences = 6;

/** A schema that is a reference gives the schema it refers to; one of several parts gives them as one. */
export function resolved(schema: Schema, root: Schema): Schema | undefined {
  const target = referred(schema, root);
  const parts = target?.["allOf"];
  return target !== undefined && Array.isArray(parts) ? merged([target, ...parts], root) : target;
}

function merged(parts: readonly unknown[], root: Schema): Schema {
  const schemas = parts.filter(isRecord).map((part) => referred(part, root) ?? {});
  const { allOf: _, ...whole } = Object.assign({}, ...schemas) as Schema;
  const properties = schemas.map((schema) => schema["properties"]).filter(isRecord);
  const required = schemas.flatMap((schema) => schema["required"] ?? []);
  return {
    ...whole,
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) as Schema, required }),
  };
}

function referred(schema: Schema, root: Schema): Schema | undefined {
  let current: unknown = schema;
  for (let steps = 0; steps < maxReferences && isRecord(current) && typeof current["$ref"] === "string"; steps++) {
    let target: unknown = root;
    for (const key of current["$ref"].replace(/^#\/?/, "").split("/")) {
      if (key !== "") target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    current = target;
  }
  return isRecord(current) && !("$ref" in current) ? current : undefined;
}

export function typeOf(schema: Schema): unknown {
  const type = schema["type"];
  if (Array.isArray(type)) return type.find((one) => one !== "null");
  return type ?? (isRecord(schema["properties"]) ? "object" : "string");
}

/** Maximum length of a text that a caller's own regular expression is run on, and the longest such expression: they may take for ever. */
const maxMatchedLength = 64;
const repeatsRepetition = /[+*}][^|]*\)[+*{]/;

/** Keywords about a number or text itself: others may refer to the schema that they stand in, without an end. */
const leafKeywords =
  "type format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern".split(" ");

/** Returns the check of a number or text against its schema. What cannot be checked is refused. */
export function validator(schema: Schema): (value: unknown) => boolean {
  const { pattern } = schema;
  const keywords = Object.entries(schema).filter(([keyword]) => leafKeywords.includes(keyword));
  const bounds: Record<string, unknown> = { minLength: 1, maxLength: 2000, ...Object.fromEntries(keywords) };
  // The pattern repeats a named format.
  if (schema["format"] !== undefined) delete bounds["pattern"];
  else if (typeof pattern === "string") {
    if (pattern.length > maxMatchedLength || repeatsRepetition.test(pattern)) return () => false;
    bounds["maxLength"] = Math.min(maxMatchedLength, Number(bounds["maxLength"]));
  }
  try {
    const checked = z.fromJSONSchema(bounds);
    return (value) => checked.safeParse(value).success;
  } catch {
    return () => false;
  }
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
