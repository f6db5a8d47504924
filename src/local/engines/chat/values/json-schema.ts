/** A JSON Schema as tools and structured answers bring it: read as far as values are filled in. */
export type Schema = Readonly<Record<string, unknown>>;

const schemaLine = /"answer" fits this JSON Schema: (\{.*\})\s*$/m;

/** The schema that the instructions ask an answer to fit; `undefined` when they name none. */
export function answerSchema(instructions: string): Schema | undefined {
  const written = schemaLine.exec(instructions)?.[1];
  if (written === undefined) return undefined;
  try {
    const schema: unknown = JSON.parse(written);
    return isRecord(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}

/** References to references further than this are not followed. */
const maxReferences = 6;

/** A schema that is a reference gives the schema it refers to. */
export function resolved(schema: Schema, root: Schema): Schema | undefined {
  let current: unknown = schema;
  for (let steps = 0; steps < maxReferences && isRecord(current) && typeof current["$ref"] === "string"; steps++) {
    let target: unknown = root;
    for (const key of current["$ref"].replace(/^#\/?/, "").split("/")) {
      if (key !== "") target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    current = target;
  }
  return isRecord(current) ? current : undefined;
}

export function typeOf(schema: Schema): unknown {
  const type = schema["type"];
  if (Array.isArray(type)) return type.find((one) => one !== "null");
  return type ?? (isRecord(schema["properties"]) ? "object" : "string");
}

export function allowedNumber(value: number, schema: Schema, type: unknown): boolean {
  const bound = (keyword: string, otherwise: number) => numeric(schema[keyword]) ?? otherwise;
  const step = bound("multipleOf", 0);
  return (
    (type !== "integer" || Number.isInteger(value)) &&
    value >= bound("minimum", -Infinity) &&
    value <= bound("maximum", Infinity) &&
    value > bound("exclusiveMinimum", -Infinity) &&
    value < bound("exclusiveMaximum", Infinity) &&
    (step === 0 || Number.isInteger(value / step))
  );
}

export function allowedText(value: string, schema: Schema): boolean {
  const length = Array.from(value).length;
  if (length < (numeric(schema["minLength"]) ?? 1) || length > (numeric(schema["maxLength"]) ?? 2000)) return false;
  if (schema["format"] === "date" && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  // A pattern is the caller's regular expression: running it on a long text could take for ever.
  if (typeof schema["pattern"] !== "string") return true;
  return length <= 64 && schema["pattern"].length <= 64 && matches(schema["pattern"], value);
}

function matches(pattern: string, value: string): boolean {
  if (/[+*}][^|]*\)[+*{]/.test(pattern)) return false;
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return false;
  }
}

export function numeric(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
