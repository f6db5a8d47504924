import { z } from "zod";
import { OptionsError } from "./errors.js";
import { nearestName } from "./nearest-name.js";

type Exactly<Options extends object, Shape> = {
  readonly [Key in keyof Shape]: Key extends keyof Options ? Shape[Key] : never;
} & { readonly [Key in keyof Options]-?: z.ZodType<unknown, Options[Key]> };

/**
 * The schema of an options interface. It compiles only if each has the fields of the other, so that an option can neither
 * be forgotten by the check nor be missing where an editor shows it: `optionsOf<ChunkOptions>()({ maxTokens: … })`.
 */
export function optionsOf<Options extends object>() {
  return <Shape extends z.core.$ZodLooseShape>(shape: Shape & Exactly<Options, Shape>) => z.strictObject<Shape>(shape);
}

/** A function, as a field of options. */
export function functionOption<Given>() {
  return z.custom<Given>((value) => typeof value === "function", "must be a function");
}

/**
 * Options as the code reads them, defaults filled in. Unknown keys and bad values throw an `OptionsError` that names
 * the owner, the field, the value and what it may be; for an unknown key, the known one that was probably meant.
 */
export function resolve<Schema extends z.ZodType>(
  owner: string,
  schema: Schema,
  given: z.input<Schema>,
): z.output<Schema> {
  // Code made for a schema pays after thousands of checks, and making it takes a millisecond. Most options are read once.
  const parsed = schema.safeParse(given, { jitless: true });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const misspelt = new Set(issues.filter(({ code }) => code === "unrecognized_keys").map(placeOf));
  const problems = issues.flatMap((issue) => {
    const field = placeOf(issue);
    if (issue.code === "unrecognized_keys") {
      const shape = shapeAt(schema, issue.path);
      return issue.keys.map((key) => unknownOption(field === "" ? key : `${field}.${key}`, key, shape));
    }
    // What the whole object lacks may be what the misspelt name was meant to give it.
    if (issue.code === "custom" && misspelt.has(field)) return [];
    const value = issue.path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
      given,
    );
    const isObjectMissing = issue.code === "invalid_type" && issue.expected === "object";
    const wanted = isObjectMissing ? mustBeObject(shapeAt(schema, issue.path)) : issue.message;
    const problem = `${wanted} (got ${preview(value)})`;
    return field === "" ? problem : `${field}: ${problem}`;
  });
  const first = issues[0]!;
  const [field] = first.code === "unrecognized_keys" && first.path.length === 0 ? first.keys : first.path;
  throw new OptionsError("options", problems.join("; "), {
    call: owner,
    ...(typeof field === "string" && { option: field }),
    cause: parsed.error,
  });
}

function placeOf({ path }: z.core.$ZodIssue): string {
  return path.join(".");
}

function unknownOption(place: string, key: string, shape: Fields): string {
  const known = Object.keys(shape);
  const meant = nearestName(key, known) ?? nameWithin(key, shape);
  if (meant !== undefined) return `there is no option ${JSON.stringify(place)}; did you mean ${JSON.stringify(meant)}?`;
  const all = known.length > 0 ? `; there are: ${known.join(", ")}` : "";
  return `there is no option ${JSON.stringify(place)}${all}`;
}

/** The name one floor down: of an option that has exactly this name (`answer.tools`), or that takes any name (`metadata`). */
function nameWithin(key: string, shape: Fields): string | undefined {
  const takes = Object.keys(shape).find((option) => {
    const inner = unwrapped(shape[option]);
    return inner instanceof z.ZodRecord || (inner instanceof z.ZodObject && Object.hasOwn(inner.shape, key));
  });
  return takes && `${takes}.${key}`;
}

function mustBeObject(shape: Fields): string {
  const names = Object.keys(shape);
  return `must be an object: { ${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""} }`;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of the object schema at a path; none where the path leads through anything but objects and lists. */
function shapeAt(schema: unknown, path: readonly PropertyKey[]): Fields {
  let at = unwrapped(schema);
  for (const key of path) {
    at = unwrapped(
      at instanceof z.ZodArray ? at.element : at instanceof z.ZodObject ? at.shape[String(key)] : undefined,
    );
  }
  return at instanceof z.ZodObject ? at.shape : {};
}

/** The schema that says which fields there are, without what stands around it. */
function unwrapped(schema: unknown): unknown {
  let at = schema;
  while (true) {
    if (at instanceof z.ZodPipe) at = at.out instanceof z.ZodTransform ? at.in : at.out;
    else if (at instanceof z.ZodType && wrappers.has(at.def.type)) at = (at as z.ZodOptional).unwrap();
    else return at;
  }
}

const wrappers: ReadonlySet<string> = new Set(["optional", "default", "prefault", "nullable", "readonly", "lazy"]);

function preview(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : wordsFor(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** An object without a prototype, or with a field named `toString`, cannot be turned into text. */
function wordsFor(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
