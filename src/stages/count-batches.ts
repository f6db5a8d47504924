import { resolve } from "../options.js";
import { type Stage, stage } from "../pipeline.js";
import type { Embedder, Store, WrittenDocument } from "../ports.js";
import type { DocumentChunk } from "../types.js";
import { EmbedChunksOptions } from "./embed-chunks.js";
import { batchLimits, packBatches } from "./embedding-batches.js";

/**
 * What `embedChunks` would send, unsent: packs the same batches and reports the same `chunks`, `reused`, `requests` and
 * `tokens`, the last as they are counted here, and for each document what would become of it, as `into` answers its
 * writing.
 */
export function countBatches<Space extends string>(
  embedder: Pick<Embedder<Space>, "space" | "maxBatchTexts" | "maxBatchTokens">,
  into: Pick<Store, "write">,
): Stage<DocumentChunk, WrittenDocument> {
  const limits = batchLimits(embedder, resolve("countBatches", EmbedChunksOptions, {}));
  // A run finds texts it has embedded before in the store. Nothing is stored here, so all are remembered.
  const packing = { limits, space: embedder.space, rememberTexts: Infinity };
  return stage("count-batches", async function* (source, { signal, report }) {
    const progress = (what: string, count: number) => report({ type: "progress", what, count });
    let open: DocumentChunk[] = [];
    const close = async () => {
      const [first] = open;
      const written = first ? await into.write({ documents: [{ document: first.document, chunks: open }] }) : [];
      for (const document of written) report({ type: "document", ...document });
      open = [];
      return written;
    };
    for await (const batch of packBatches(source, packing)) {
      signal.throwIfAborted();
      const fresh = batch.chunks.filter((each) => each.fresh);
      progress("chunks", batch.chunks.length);
      progress("reused", batch.chunks.length - fresh.length);
      progress(
        "tokens",
        fresh.reduce((sum, { chunk }) => sum + chunk.tokens, 0),
      );
      if (batch.texts.length > 0) progress("requests", 1);
      for (const { chunk } of batch.chunks) {
        if (open[0] && open[0].documentId !== chunk.documentId) yield* await close();
        open.push(chunk);
      }
    }
    yield* await close();
  });
}
