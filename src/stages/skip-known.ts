import { stage, type Stage } from "../pipeline.js";
import type { Store } from "../ports.js";
import { groupRuns } from "../stream.js";
import { documentFingerprint, vectorKey } from "../text/chunk-identity.js";
import type { DocumentChunk } from "../types.js";
import { withVector } from "./with-vector.js";

/**
 * Lets go of documents that are stored as they are, and gives chunks of changed ones the vectors that the store already
 * has for their text, so that only what is new is embedded. Holds one document's chunks at a time.
 */
export function skipKnown<Space extends string>(
  store: Pick<Store<Space>, "space" | "documentInfo" | "knownVectors">,
): Stage<DocumentChunk, DocumentChunk> {
  return stage("skip-known", async function* (source, { signal, report }) {
    for await (const chunks of groupRuns(source, ({ documentId }) => documentId)) {
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
        if (vector === undefined) yield chunk;
        else yield withVector(chunk, vector, store.space);
      }
    }
  });
}
