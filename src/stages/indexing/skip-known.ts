import { checkStorePart } from "../../core/check-port.js";
import { stage, type Stage } from "../../core/pipeline.js";
import type { Store } from "../../core/ports.js";
import { batch, groupRuns } from "../../core/stream.js";
import type { Document, DocumentChunk } from "../../core/types.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";
import { withVector } from "./embed-chunks.js";

/** Documents that arrive together are looked up together: each query to a store on another machine costs a round trip. */
const maxDocuments = 64;
const maxChunks = 256;
const maxCodeUnits = 1_000_000;

/**
 * Drops documents that are stored unchanged, and gives chunks of changed ones the vectors that the store already has for
 * their text, so that only new text is embedded. Holds the chunks of one document, or of several that came together and
 * have no more than 256.
 *
 * @example
 * ```ts
 * import { chunk, collect, Pipeline, skipKnown, type Document, type Store } from "citewell";
 * export const changedChunks = (store: Store, documents: readonly Document[]) =>
 *   collect(Pipeline.from<Document>().pipe(chunk()).pipe(skipKnown(store)).stream(documents));
 * ```
 */
export function skipKnown<Space extends string>(
  store: Pick<Store<Space>, "space" | "documentInfo" | "knownVectors">,
): Stage<DocumentChunk, DocumentChunk> {
  checkStorePart("skipKnown", store, ["documentInfo", "knownVectors"]);
  return stage("skip-known", async function* (source, { signal, report }) {
    const documents = groupRuns(source, ({ document }) => document);
    const weigh = (chunks: readonly DocumentChunk[]) => chunks.length;
    for await (const group of batch(documents, { count: maxDocuments, weight: maxChunks, weigh, waitMs: 0 })) {
      signal.throwIfAborted();
      const infos = await Promise.all(group.map(([{ document }]) => store.documentInfo(document.uri)));
      const changed: DocumentChunk[][] = [];
      for (const [index, chunks] of group.entries()) {
        const [{ document }] = chunks;
        if (infos[index]?.fingerprint === documentFingerprint(document, chunks)) {
          report({ type: "document", uri: document.uri, outcome: "unchanged", chunks: chunks.length });
        } else changed.push(chunks);
      }
      if (changed.length === 0) continue;
      const chunks = changed.flat();
      const keys = chunks.map(vectorKey);
      const vectors = await store.knownVectors([...new Set(keys)]);
      for (const [index, chunk] of chunks.entries()) {
        const vector = vectors.get(keys[index]!);
        yield vector === undefined ? chunk : withVector(chunk, vector, store.space);
      }
    }
  });
}

/**
 * Drops documents that are stored unchanged and were cut as they would be now, before they are cut again.
 *
 * @param cutAsNow which of the stored documents with these uris were.
 */
export function skipUnchanged(
  store: Pick<Store, "documentInfo" | "document">,
  cutAsNow: (uris: readonly string[]) => Promise<ReadonlySet<string>>,
): Stage<Document, Document> {
  return stage("skip-unchanged", async function* (source, { report }) {
    const weigh = ({ text }: Document) => text.length;
    for await (const group of batch(source, { count: maxDocuments, weight: maxCodeUnits, weigh, waitMs: 0 })) {
      const wereCut = await cutAsNow(group.map(({ uri }) => uri));
      for (const document of group) {
        const { uri } = document;
        const stored = wereCut.has(uri) ? await store.document(uri) : undefined;
        if (stored && stored.text === document.text && details(stored) === details(document)) {
          const info = await store.documentInfo(uri);
          report({ type: "document", uri, outcome: "unchanged", chunks: info!.chunks });
        } else yield document;
      }
    }
  });
}

/** Everything beside the text that makes two documents of one uri differ, whoever read them. */
function details({ title, metadata, mediaType, anchors, revision }: Document): string {
  return JSON.stringify([title, metadata, mediaType, anchors, revision]);
}
