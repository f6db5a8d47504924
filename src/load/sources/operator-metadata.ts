import { hash } from "node:crypto";
import { z } from "zod";
import { asError, LoadError } from "../../core/errors.js";
import { jsonMetadata } from "../../core/metadata.js";
import type { Json, Metadata } from "../../core/types.js";
import type { FileOutcome } from "../formats/loader.js";

/** A file, or a page of the web, for which metadata is asked. */
export interface FileForMetadata {
  /** Its address: `Document.uri` of its document. Rows and files that lie in it have this address and a `#` in front of theirs. */
  readonly uri: string;
  /** With `/`, relative to the folder, repository or bucket that is read; the name of a file that is read alone, the path of a page. */
  readonly path: string;
  /** Absent if it is unknown before the content is fetched. */
  readonly sizeBytes?: number;
  /** Time of its last change; absent if that is unknown before the content is fetched. */
  readonly modified?: Date;
}

/** Returns the metadata for the documents of a file: JSON values by name. Fields that are `undefined` are left out. */
export type MetadataOfFile = (
  file: FileForMetadata,
) => Readonly<Record<string, Json | undefined>> | Promise<Readonly<Record<string, Json | undefined>>>;

const anyJson = z.json();
const json = z.custom<Json>((value) => anyJson.safeParse(value).success, "must be a JSON value");
const anyMetadata = z.record(z.string(), json);

/** Metadata that the operator puts on every document of a source. */
export const operatorMetadata = z.custom<Metadata | MetadataOfFile>().superRefine((value, context) => {
  if (typeof value === "function") return;
  for (const { path, message } of anyMetadata.safeParse(value).error?.issues ?? []) {
    const wanted = 'must be an object such as { tenant: "a" }, or a function of the file that returns one';
    context.addIssue({ code: "custom", path, message: path.length > 0 ? message : wanted });
  }
});

/** The metadata for one file. */
export interface ChosenMetadata {
  readonly metadata: Metadata;
  /** Digest of the metadata, by which a later run can tell whether it changed; `undefined` for none. */
  readonly digest: string | undefined;
}

/** @throws LoadError (`malformed`) when the caller's function fails, or returns no metadata. */
export async function metadataFor(given: Metadata | MetadataOfFile, file: FileForMetadata): Promise<ChosenMetadata> {
  const metadata = typeof given === "function" ? await resultFor(given, file) : given;
  const digest = Object.keys(metadata).length === 0 ? undefined : hash("sha256", JSON.stringify(metadata), "base64url");
  return { metadata, digest };
}

async function resultFor(metadataOf: MetadataOfFile, file: FileForMetadata): Promise<Metadata> {
  const { uri } = file;
  try {
    return jsonMetadata(uri, await metadataOf(file));
  } catch (thrown) {
    const cause = asError(thrown);
    const reason = cause.message.replace(`${uri}: `, "");
    const message = `${uri} has no metadata, since the function given as metadata failed: ${reason}`;
    throw new LoadError("malformed", uri, message, { cause, option: "metadata" });
  }
}

/** The outcome with metadata on its document, which replaces what the document itself says under the same names. */
export function withMetadata(outcome: FileOutcome, metadata: Metadata): FileOutcome {
  if (!("document" in outcome) || Object.keys(metadata).length === 0) return outcome;
  const { document } = outcome;
  return { ...outcome, document: { ...document, metadata: { ...document.metadata, ...metadata } } };
}
