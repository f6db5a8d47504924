import { stage, type Stage } from "../pipeline.js";
import type { Store } from "../ports.js";
import { documentFingerprint } from "../text/chunk-identity.js";
import type { Document } from "../types.js";

/**
 * Stores documents without a word in them, which give no chunk that could carry them to the end, and hands on all
 * others. So a document that was emptied loses its old chunks.
 */
export function storeBlank(into: Pick<Store, "documentInfo" | "write">): Stage<Document, Document> {
  return stage("store-blank", async function* (source, context) {
    for await (const document of source) {
      if (/\S/.test(document.text)) {
        yield document;
        continue;
      }
      const stored = await into.documentInfo(document.uri);
      if (stored?.fingerprint === documentFingerprint(document, [])) {
        context.report({ type: "document", uri: document.uri, outcome: "unchanged", chunks: 0 });
        continue;
      }
      for (const { uri, outcome, chunks, deletedChunks } of await into.write({
        documents: [{ document, chunks: [] }],
      })) {
        context.report({ type: "document", uri, outcome, chunks, deletedChunks });
      }
    }
  });
}
