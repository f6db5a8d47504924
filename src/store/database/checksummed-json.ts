import { createHash } from "node:crypto";

/** Readable JSON with a checksum of its fields: without one, a changed digit would still be valid JSON. */
export function withChecksum(fields: object): string {
  return `${JSON.stringify({ ...fields, checksum: checksumOf(fields) }, undefined, 2)}\n`;
}

/**
 * Reads the fields that `withChecksum` wrote.
 *
 * @throws Error when anything in the text was changed.
 */
export function readChecksummed(text: string): object {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null) throw new Error("it holds no fields");
  const { checksum, ...fields } = parsed as { readonly checksum?: unknown };
  if (checksum !== checksumOf(fields)) throw new Error("its checksum differs");
  return fields;
}

function checksumOf(fields: object): string {
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
