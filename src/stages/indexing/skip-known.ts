import { checkStorePart } from "../../core/check-port.js";
import { stage, type Stage } from "../../core/pipeline.js";
import type { Store } from "../../core/ports.js";
import { groupRuns } from "../../core/stream.js";
import type { Document, DocumentChunk } from "../../core/types.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";
import { withVector } from "./embed-chunks.js";

/**
 * Drops documents that are stored unchanged, and gives chunks of changed ones the vectors that the store already has for
 * their text, so that only new text is embedded. Holds one document's chunks at a time.
 */
export function skipKnown<Space extends string>(
  store: Pick<Store<Space>, "space" | "documentInfo" | "knownVectors">,
): Stage<DocumentChunk, DocumentChunk> {
  checkStorePart("skipKnown", store, ["documentInfo", "knownVectors"]);
  return stage("skip-known", async function* (source, { signal, report }) {
    for await (const chunks of groupRuns(source, ({ document }) => document)) {
      signal.throwIfAborted();
      const [{ document }] = chunks;
      const stored = await store.documentInfo(document.uri);
      if (stored?.fingerprint === documentFingerprint(document, chunks)) {
        report({ type: "document", uri: document.uri, outcome: "unchanged", chunks: chunks.length });
        continue;
      }
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
 * @param wasCutAsNow whether the stored document of this uri was.
 */
export function skipUnchanged(
  store: Pick<Store, "documentInfo" | "document">,
  wasCutAsNow: (uri: string) => Promise<boolean>,
): Stage<Document, Document> {
  return stage("skip-unchanged", async function* (source, { report }) {
    for await (const document of source) {
      const { uri } = document;
      const stored = (await wasCutAsNow(uri)) ? await store.document(uri) : undefined;
      if (stored && stored.text === document.text && details(stored) === details(document)) {
        const info = await store.documentInfo(uri);
        report({ type: "document", uri, outcome: "unchanged", chunks: info!.chunks });
      } else yield document;
    }
  });
}

/** Everything beside the text that makes two documents of one uri differ, whoever read them. */
function details({ title, metadata, mediaType, anchors, revision }: Document): string {
  return JSON.stringify([title, metadata, mediaType, anchors, revision]);
}
