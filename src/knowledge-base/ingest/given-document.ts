import { asError, OptionsError } from "../../core/errors.js";
import { jsonMetadata } from "../../core/metadata.js";
import type { Anchor, Document } from "../../core/types.js";

/** Checked item of a source: a document that can be stored, or the error that prevents it, under its uri or its position. */
export type GivenDocument = { readonly document: Document } | { readonly uri: string; readonly error: Error };

/**
 * Makes a document of an item of a source, which in JavaScript may be any value. It is a copy with the metadata that
 * the store will hold: an object may return other values when it is read again.
 *
 * @param position counts what the source handed out, from 1; it names a document without a uri.
 */
export function givenDocument(given: unknown, position: number): GivenDocument {
  let uri = `(document ${position})`;
  try {
    if (typeof given !== "object" || given === null) throw wrong(uri, "must be an object: { uri, text }", given);
    // Read the fields by name: a spread leaves out the getters of a class.
    const fields = given as Readonly<Partial<Record<keyof Document, unknown>>>;
    const { uri: address } = fields;
    if (typeof address !== "string" || address === "") {
      throw wrong(uri, "has no uri: it must be a string that is not empty", address);
    }
    uri = address;
    const { text, title, mediaType, source, metadata, anchors, revision } = fields;
    if (typeof text !== "string") throw wrong(uri, "has no text: it must be a string", text);
    for (const [name, value] of Object.entries({ title, mediaType, source })) {
      if (value !== undefined && typeof value !== "string") throw wrong(uri, `${name} must be a string`, value);
    }
    if (anchors !== undefined && !areAnchors(anchors)) {
      throw wrong(uri, "anchors must be a list of { start, … } with numbers, in order of start", anchors);
    }
    if (revision !== undefined && !isRevision(revision)) {
      throw wrong(uri, "revision must be an object of strings", revision);
    }
    const document = {
      ...fields,
      uri,
      text,
      ...(title !== undefined && { title }),
      ...(mediaType !== undefined && { mediaType }),
      ...(source !== undefined && { source }),
      ...(metadata !== undefined && { metadata: jsonMetadata(uri, metadata) }),
      ...(anchors !== undefined && { anchors }),
      ...(revision !== undefined && { revision }),
    };
    return { document: document as Document };
  } catch (thrown) {
    const error =
      thrown instanceof OptionsError
        ? thrown
        : new OptionsError("options", `${uri}: cannot be read: ${asError(thrown).message}`, { cause: thrown });
    return { uri, error };
  }
}

function wrong(uri: string, problem: string, got: unknown): OptionsError {
  return new OptionsError("options", `${uri}: ${problem} (got ${kindOf(got)})`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value === "") return "an empty string";
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

const anchorNumbers = ["page", "line", "seconds", "heading"] as const;

function areAnchors(value: unknown): value is readonly Anchor[] {
  if (!Array.isArray(value)) return false;
  let last = 0;
  for (const each of value as readonly unknown[]) {
    if (typeof each !== "object" || each === null) return false;
    const { start, ...named } = each as Readonly<Partial<Record<keyof Anchor, unknown>>>;
    if (typeof start !== "number" || !(start >= last) || !Number.isFinite(start)) return false;
    if (anchorNumbers.some((name) => named[name] !== undefined && !Number.isFinite(named[name]))) return false;
    last = start;
  }
  return true;
}

function isRevision(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => text === undefined || typeof text === "string");
}
