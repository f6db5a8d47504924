import { OptionsError } from "../../core/errors.js";
import type { Document } from "../../core/types.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";

const prefix = "citewell://document/";

/** The form of the addresses of resources, after RFC 6570. */
export const resourceTemplate = `${prefix}{uri}`;

/** The address of a document as a resource, from an offset on. */
export function resourceAddress(uri: string, start = 0): string {
  return `${prefix}${encodeURIComponent(uri)}${start === 0 ? "" : `?start=${start}`}`;
}

/** The document and the offset that the address of a resource names. */
export function parseResourceAddress({ pathname, searchParams }: URL): {
  readonly uri: string;
  readonly start: number;
} {
  const start = searchParams.get("start") ?? "0";
  if (!/^\d{1,15}$/.test(start)) throw new OptionsError("options", "The start must be a whole number of characters");
  try {
    return { uri: decodeURIComponent(pathname.slice(1)), start: Number(start) };
  } catch (cause) {
    throw new OptionsError("options", "The document's address is not encoded as in a URI", { cause });
  }
}

/**
 * The document of that uri, or of that address of a resource.
 *
 * @throws OptionsError when there is none within the scope: one of another scope is as unknown as one that never was.
 */
export async function requireDocument(documents: ScopedKnowledgeBase, given: string): Promise<Document> {
  const isAddress = given.startsWith(prefix) && URL.canParse(given);
  const uri = isAddress ? parseResourceAddress(new URL(given)).uri : given;
  const document = await documents.document(uri);
  if (!document) throw new OptionsError("options", unknownDocument(uri));
  return document;
}

export function unknownDocument(uri: string): string {
  return (
    `There is no document ${JSON.stringify(uri.slice(0, 200))}. Take the uri from a result of search, or from the list of ` +
    "resources, as it stands there"
  );
}
