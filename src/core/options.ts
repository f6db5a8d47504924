import { z } from "zod";
import { OptionsError } from "./errors.js";

/**
 * Options as the code reads them, defaults filled in. Unknown keys and bad values throw an `OptionsError` that names
 * the owner, the field, the value and what it may be.
 */
export function resolve<Schema extends z.ZodType>(
  owner: string,
  schema: Schema,
  given: z.input<Schema>,
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.join(".");
    const value = issue.path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
      given,
    );
    const got = issue.code === "unrecognized_keys" ? "" : ` (got ${preview(value)})`;
    return field === "" ? `${issue.message}${got}` : `${field}: ${issue.message}${got}`;
  });
  const [field] = parsed.error.issues[0]!.path;
  throw new OptionsError("options", problems.join("; "), {
    call: owner,
    ...(typeof field === "string" && { option: field }),
    cause: parsed.error,
  });
}

function preview(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
