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

/**
 * Options as the code reads them, defaults filled in. Unknown keys and bad values throw an `OptionsError` that names
 * the owner, the field, the value and what it may be; for an unknown key, the known one that was probably meant.
 */
export function resolve<Schema extends z.ZodType>(
  owner: string,
  schema: Schema,
  given: z.input<Schema>,
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    const field = issue.path.join(".");
    if (issue.code === "unrecognized_keys") {
      const known = Object.keys(shapeAt(schema, issue.path));
      return issue.keys.map((key) => unknownOption(field === "" ? key : `${field}.${key}`, key, known));
    }
    const value = issue.path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
      given,
    );
    const problem = `${issue.message} (got ${preview(value)})`;
    return field === "" ? problem : `${field}: ${problem}`;
  });
  const first = parsed.error.issues[0]!;
  const [field] = first.code === "unrecognized_keys" && first.path.length === 0 ? first.keys : first.path;
  throw new OptionsError("options", problems.join("; "), {
    call: owner,
    ...(typeof field === "string" && { option: field }),
    cause: parsed.error,
  });
}

function unknownOption(place: string, key: string, known: readonly string[]): string {
  const meant = nearestName(key, known);
  if (meant !== undefined) return `there is no option ${JSON.stringify(place)}; did you mean ${JSON.stringify(meant)}?`;
  return `there is no option ${JSON.stringify(place)}; there are: ${known.join(", ") || "none"}`;
}

/** The fields of the object schema at a path; none where the path leads through anything but objects and lists. */
function shapeAt(schema: unknown, path: readonly PropertyKey[]): Readonly<Record<string, unknown>> {
  let at = unwrapped(schema);
  for (const key of path) {
    at = unwrapped(
      at instanceof z.ZodArray ? at.element : at instanceof z.ZodObject ? at.shape[String(key)] : undefined,
    );
  }
  return at instanceof z.ZodObject ? at.shape : {};
}

function unwrapped(schema: unknown): unknown {
  let at = schema;
  while (
    at instanceof z.ZodOptional ||
    at instanceof z.ZodDefault ||
    at instanceof z.ZodPrefault ||
    at instanceof z.ZodNullable ||
    at instanceof z.ZodReadonly
  )
    at = at.unwrap();
  return at;
}

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
