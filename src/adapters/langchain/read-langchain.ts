import { OptionsError } from "../../core/errors.js";
import { isRecord, parsedJson } from "../../core/json.js";
import type { Document, Metadata } from "../../core/types.js";

/** LangChain's document, by its shape. */
export interface LangChainDocument {
  /** The text. */
  readonly pageContent: string;
  /** Facts beside it; `source` says where it comes from. */
  readonly metadata: object;
  /** Identity, where it has one. */
  readonly id?: string | undefined;
}

/** Any document loader of LangChain. */
export interface LangChainLoader {
  /** Loads all documents. */
  load(): Promise<readonly LangChainDocument[]>;
}

/**
 * The documents of a LangChain loader as a source: `kb.ingest(readLangChain(new PDFLoader("…")))`. A document's `uri` is its id,
 * else `metadata.source`; further ones of one source, such as the pages of a file, have their number behind it, `#2`. What of the
 * metadata is not JSON is left out. Documents that a later load no longer has stay stored: a loader does not say what is its own.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { readLangChain } from "citewell/langchain";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const loader = { load: async () => [{ pageContent: "Keys expire after 90 days.", metadata: { source: "keys.txt" } }] };
 * await kb.ingest(readLangChain(loader));
 * ```
 */
export async function* readLangChain(loader: LangChainLoader): AsyncGenerator<Document> {
  if (typeof (loader as Partial<LangChainLoader> | null)?.load !== "function") {
    throw new OptionsError("options", "readLangChain: must be a document loader of LangChain, with load()");
  }
  yield* documentsOf(await loader.load());
}

export function documentsOf(documents: readonly LangChainDocument[]): Document[] {
  const seen = new Map<string, number>();
  return documents.map(({ pageContent, metadata, id }, index) => {
    const facts = jsonOf(metadata);
    const { source = `document-${index + 1}`, title, ...others } = facts;
    const name = id ?? (typeof source === "string" ? source : JSON.stringify(source));
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return {
      uri: number === 1 ? name : `${name}#${number}`,
      text: pageContent,
      ...(typeof title === "string" && { title }),
      ...(Object.keys(others).length > 0 && { metadata: others }),
    };
  });
}

function jsonOf(metadata: object): Metadata {
  const json = parsedJson(JSON.stringify(metadata ?? {}));
  return isRecord(json) ? (json as Metadata) : {};
}
