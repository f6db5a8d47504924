import { StoreError } from "../../core/errors.js";
import type { DocumentWrite, Store, StoredDocumentInfo, StoreSettings } from "../../core/ports.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";

/** The document that a record belongs to, and the state of it. */
export interface DocumentState extends Pick<StoredDocumentInfo, "uri" | "source"> {
  /** `documentFingerprint` of what is transferred. */
  readonly fingerprint: string;
}

/** A piece of a store on its way to another one or to a file. The vectors of a document come before it. */
export type TransferRecord =
  | {
      readonly kind: "store";
      readonly space: string;
      readonly dimension?: number;
      readonly tokenMargin: number;
      readonly settings: StoreSettings;
    }
  | { readonly kind: "vectors"; readonly of: DocumentState; readonly vectors: ReadonlyMap<string, Float32Array> }
  | { readonly kind: "document"; readonly of: DocumentState; readonly write: DocumentWrite; readonly note?: string };

/** Documents requested at once. */
const pageDocuments = 200;

/** Vectors in a record: 1 MB of a space of 1,024 dimensions. */
const maxVectors = 256;

/** The first record of a store. */
export function storeRecord(store: Store): TransferRecord & { readonly kind: "store" } {
  const { space, dimension, tokenMargin = 1, settings = {} } = store;
  return { kind: "store", space, ...(dimension !== undefined && { dimension }), tokenMargin, settings };
}

/**
 * The documents of a store in order of uri, each behind its vectors, and not those that `skip` returns true for. Holds one
 * document and a record of vectors in memory.
 *
 * @param after only documents behind this uri. Default: all.
 * @throws StoreError `missing` when the store cannot list chunks, `vector` when it lacks one of a chunk.
 */
export async function* documentRecords(
  store: Store,
  skip: (info: StoredDocumentInfo) => Promise<boolean>,
  { after, signal }: { readonly after?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<TransferRecord> {
  if (!store.documentWithChunks) {
    throw new StoreError(
      "missing",
      `The store at ${store.location} has no documentWithChunks(), so it cannot be copied`,
    );
  }
  for (let last = after; ;) {
    const page = await store.documents({ limit: pageDocuments, ...(last !== undefined && { after: last }) });
    for (const info of page) {
      signal?.throwIfAborted();
      if (await skip(info)) continue;
      const write = await store.documentWithChunks(info.uri);
      // Deleted since the page was read.
      if (!write) continue;
      const read = stateOf(write);
      const keys = [...new Set(write.chunks.map(vectorKey))];
      for (let offset = 0; offset < keys.length; offset += maxVectors) {
        const wanted = keys.slice(offset, offset + maxVectors);
        const vectors = await store.knownVectors(wanted);
        if (vectors.size < wanted.length) {
          const missing = `${wanted.length - vectors.size} vectors of ${info.uri}`;
          throw new StoreError(
            "vector",
            `The store at ${store.location} lacks ${missing}. Run citewell verify --repair`,
          );
        }
        yield { kind: "vectors", of: read, vectors };
      }
      const note = (await store.notes?.([info.uri]))?.get(info.uri);
      yield { kind: "document", of: read, write, ...(note !== undefined && { note }) };
    }
    if (page.length < pageDocuments) return;
    last = page.at(-1)!.uri;
  }
}

export function stateOf({ document, chunks }: DocumentWrite): DocumentState {
  const { uri, source } = document;
  return { uri, ...(source !== undefined && { source }), fingerprint: documentFingerprint(document, chunks) };
}

/** Whether a store has a document in this state. */
export async function isStoredIn(store: Store, { uri, source, fingerprint }: DocumentState): Promise<boolean> {
  const found = await store.documentInfo(uri);
  return found?.fingerprint === fingerprint && found.source === source;
}
