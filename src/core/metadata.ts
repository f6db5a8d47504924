import type { z } from "zod";
import { OptionsError } from "./errors.js";
import type { Document } from "./types.js";

/** Deepest nesting of metadata. SQLite reads JSON up to 1,000 levels deep. */
const maxDepth = 100;

/**
 * Checks a document's metadata against the schema of its store, if that has one. A document without metadata counts as one
 * with none of the fields.
 *
 * @throws OptionsError with all that is wrong, also for metadata nested more than 100 levels deep.
 */
export function checkMetadata(schema: z.ZodType | undefined, { uri, metadata = {} }: Document): void {
  if (!isWithinDepth(metadata, maxDepth)) {
    throw new OptionsError("options", `${uri}: metadata is nested more than ${maxDepth} levels deep`);
  }
  const parsed = schema?.safeParse(metadata);
  if (!parsed || parsed.success) return;
  const problems = parsed.error.issues.map(({ path, message }) => `${["metadata", ...path].join(".")}: ${message}`);
  throw new OptionsError("options", `${uri}: ${problems.join("; ")}`, { cause: parsed.error });
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinDepth(inner, levels - 1));
}
