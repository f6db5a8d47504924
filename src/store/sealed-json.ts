import { createHash } from "node:crypto";

/** JSON for people to read and for `unsealed`, with a checksum of its own: a changed digit is valid JSON too. */
export function sealed(fields: object): string {
  return `${JSON.stringify({ ...fields, checksum: checksumOf(fields) }, undefined, 2)}\n`;
}

/**
 * The fields that were sealed.
 *
 * @throws Error when the text is not what `sealed` made, to the last digit.
 */
export function unsealed(text: string): object {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null) throw new Error("it holds no fields");
  const { checksum, ...fields } = parsed as { readonly checksum?: unknown };
  if (checksum !== checksumOf(fields)) throw new Error("its checksum differs");
  return fields;
}

function checksumOf(fields: object): string {
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
