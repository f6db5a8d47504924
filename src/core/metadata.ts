import type { z } from "zod";
import { OptionsError } from "./errors.js";
import type { Document } from "./types.js";

/** Deepest nesting of metadata. SQLite reads JSON up to 1,000 levels deep. */
const maxDepth = 100;

/**
 * Checks what a store looks documents up by: its uri, title, source and media type, and its metadata against the schema of
 * the store, if that has one. A document without metadata counts as one with none of the fields.
 *
 * @throws OptionsError with all that is wrong, also for metadata nested more than 100 levels deep.
 */
export function checkDetails(schema: z.ZodType | undefined, document: Omit<Document, "text">): void {
  const { uri, title, source, mediaType, metadata = {} } = document;
  for (const [name, text] of Object.entries({ uri, title, source, mediaType })) checkWellFormed(uri, name, text);
  if (!isWithinDepth(metadata, maxDepth)) {
    throw new OptionsError("options", `${uri}: metadata is nested more than ${maxDepth} levels deep`);
  }
  const parsed = schema?.safeParse(metadata);
  if (!parsed || parsed.success) return;
  const problems = parsed.error.issues.map(({ path, message }) => `${["metadata", ...path].join(".")}: ${message}`);
  throw new OptionsError("options", `${uri}: ${problems.join("; ")}`, { cause: parsed.error });
}

/**
 * Half a surrogate pair is no character: databases that store UTF-8 keep it in none of the texts that they compare.
 *
 * @throws OptionsError for a text that has one.
 */
export function checkWellFormed(uri: string, name: string, text: string | undefined): void {
  if (text === undefined || text.isWellFormed()) return;
  const message = `${JSON.stringify(uri)}: the ${name} has half of a surrogate pair. Pass it through toWellFormed()`;
  throw new OptionsError("options", message);
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinDepth(inner, levels - 1));
}
