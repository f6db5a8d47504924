/** A JSON Schema as tools and structured answers bring it: read as far as values are filled in. */
export type Schema = Readonly<Record<string, unknown>>;

/** References to references further than this are not followed. */
const mostReferences = 6;

/** A schema that is a reference gives the schema it refers to. */
export function resolved(schema: Schema, root: Schema): Schema | undefined {
  let current: unknown = schema;
  for (let steps = 0; steps < mostReferences && isRecord(current) && typeof current["$ref"] === "string"; steps++) {
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
  const least = numeric(schema["minimum"]) ?? Number.NEGATIVE_INFINITY;
  const most = numeric(schema["maximum"]) ?? Number.POSITIVE_INFINITY;
  const above = numeric(schema["exclusiveMinimum"]) ?? Number.NEGATIVE_INFINITY;
  const below = numeric(schema["exclusiveMaximum"]) ?? Number.POSITIVE_INFINITY;
  const step = numeric(schema["multipleOf"]);
  return (
    (type !== "integer" || Number.isInteger(value)) &&
    value >= least &&
    value <= most &&
    value > above &&
    value < below &&
    (step === undefined || step === 0 || Number.isInteger(value / step))
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

/** The value that a text names, longest first; numbers and booleans by how they are written. */
export function mentioned(values: readonly unknown[], text: string): unknown {
  const lower = text.toLowerCase();
  return values
    .filter((value) => {
      const written = String(value).toLowerCase().replace(/[_-]/g, " ");
      return written !== "" && (lower.includes(String(value).toLowerCase()) || lower.includes(written));
    })
    .toSorted((a, b) => String(b).length - String(a).length)[0];
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
