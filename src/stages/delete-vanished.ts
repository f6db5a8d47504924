import type { RunContext } from "../pipeline.js";
import type { Store } from "../ports.js";

/**
 * Deletes the stored documents that a complete reading of a source did not meet and that the source says are gone. To be
 * called only after the source was read to its end: what was not reached has not vanished.
 */
export async function deleteVanished(
  from: Pick<Store, "documents" | "deleteDocuments">,
  vanished: (uri: string, source?: string) => boolean | Promise<boolean>,
  met: (uri: string) => boolean,
  context: Pick<RunContext, "report" | "failures">,
): Promise<void> {
  for (const { uri, chunks, source } of await from.documents()) {
    // A file that is there and could not be read has not vanished either.
    if (met(uri) || context.failures.has(uri) || !(await vanished(uri, source))) continue;
    await from.deleteDocuments([uri]);
    context.report({ type: "document", uri, outcome: "deleted", chunks: 0, deletedChunks: chunks });
  }
}
