import { hash } from "node:crypto";
import { z } from "zod";
import type { Document, Json, Metadata } from "../../core/types.js";

const anyJson = z.json();
const json = z.custom<Json>((value) => anyJson.safeParse(value).success, "must be a JSON value");

/** Metadata that whoever reads a source puts on every document of it. */
export const operatorMetadata = z.record(z.string(), json);

/** The document with this metadata, which replaces what the document itself says under the same names. */
export function withMetadata(document: Document, metadata: Metadata): Document {
  if (Object.keys(metadata).length === 0) return document;
  return { ...document, metadata: { ...document.metadata, ...metadata } };
}

/** A short name for metadata, so that a later run can tell whether it puts the same on; `undefined` for none. */
export function metadataDigest(metadata: Metadata): string | undefined {
  if (Object.keys(metadata).length === 0) return undefined;
  return hash("sha256", JSON.stringify(metadata), "base64url");
}
