import { stage, type Stage } from "../pipeline.js";
import type { Store } from "../ports.js";
import type { Document } from "../types.js";

/**
 * Lets go of documents that are stored as they are and were cut in the same way, before they are cut again: for ways that
 * cost something, as each sentence's embedding does.
 *
 * @param cutBy names the way, as `DocumentWrite.cutBy` did; undefined: all documents are handed on.
 */
export function skipUnchanged(
  store: Pick<Store, "documentInfo" | "document">,
  cutBy: string | undefined,
): Stage<Document, Document> {
  return stage("skip-unchanged", async function* (source, { report }) {
    for await (const document of source) {
      const { uri } = document;
      const info = cutBy === undefined ? undefined : await store.documentInfo(uri);
      const stored = info && info.cutBy === cutBy ? await store.document(uri) : undefined;
      if (stored && isSame(stored, document)) {
        report({ type: "document", uri, outcome: "unchanged", chunks: info!.chunks });
      } else yield document;
    }
  });
}

/** Whether two documents of one name are one, whoever read them. */
function isSame(one: Document, other: Document): boolean {
  return one.text === other.text && details(one) === details(other);
}

function details({ title, metadata, mediaType, anchors, revision }: Document): string {
  return JSON.stringify([title, metadata, mediaType, anchors, revision]);
}
