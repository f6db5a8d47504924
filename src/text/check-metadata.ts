import type { z } from "zod";
import { OptionsError } from "../errors.js";
import type { Document } from "../types.js";

/**
 * @throws OptionsError with all that is wrong, when a document's metadata is not as the schema has it. A document without
 * metadata counts as one with none of the fields.
 */
export function checkMetadata(schema: z.ZodType, { uri, metadata = {} }: Document): void {
  const parsed = schema.safeParse(metadata);
  if (parsed.success) return;
  const problems = parsed.error.issues.map(({ path, message }) => `${["metadata", ...path].join(".")}: ${message}`);
  throw new OptionsError("options", `${uri}: ${problems.join("; ")}`, { cause: parsed.error });
}
