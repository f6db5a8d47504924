import { isRecord } from "../../core/json.js";

/**
 * The fields of a request that its schema did not keep, as paths without the places in lists: `messages.name`. A field that is
 * null is absent. Pure.
 */
export function ignoredFields(given: unknown, read: unknown): readonly string[] {
  return [...new Set(missing(given, read, "", 0))];
}

/** No schema has fields further down; what is deeper is free-form, and may be of any depth. */
const maxDepth = 8;

function* missing(given: unknown, read: unknown, path: string, depth: number): Generator<string> {
  if (depth > maxDepth) return;
  if (Array.isArray(given) && Array.isArray(read)) {
    for (const [index, item] of given.entries()) {
      if (typeof item === "object") yield* missing(item, read[index], path, depth + 1);
    }
    return;
  }
  if (!isRecord(given) || !isRecord(read)) return;
  for (const [name, value] of Object.entries(given)) {
    if (value === null) continue;
    const place = path === "" ? name : `${path}.${name}`;
    if (Object.hasOwn(read, name)) yield* missing(value, read[name], place, depth + 1);
    else yield place;
  }
}

/** Names of fields are the caller's, and may be of any length and number. */
const maxListed = 20;
const maxNameLength = 80;

/** The fields as the value of a header, which takes visible ASCII only. Pure. */
export function writtenFields(names: readonly string[]): string {
  const listed = names
    .slice(0, maxListed)
    .map((name) => encodeURIComponent(Buffer.from(name.slice(0, maxNameLength)).toString()));
  const rest = names.length - listed.length;
  return listed.join(", ") + (rest > 0 ? `, and ${rest} more` : "");
}
