import { stage, type Stage } from "../pipeline.js";
import type { DocumentWrite, Store } from "../ports.js";
import { batch } from "../stream.js";
import { vectorKey } from "../text/chunk-identity.js";
import type { Chunk, DocumentChunk, Embedded, StoredDocument } from "../types.js";

/** Most chunks in one transaction: a few megabytes of vectors. */
const mostChunks = 512;

/**
 * Writes what has arrived, in one transaction at a time. Vectors are kept as they come, so that an interrupted run has
 * paid for nothing in vain; a document replaces what was stored of it once all its chunks are there, which is when a
 * chunk of another document comes or the stream ends without an error. Documents in `context.failures` stay as they were.
 */
export function store<Space extends string>(
  kb: Pick<Store<Space>, "space" | "dimension" | "write">,
): Stage<Embedded<DocumentChunk, Space>, StoredDocument> {
  const { space, dimension } = kb;
  return stage(
    "store",
    async function* (source, context) {
      let open: OpenDocument | undefined;
      for await (const group of batch(source, { count: mostChunks, waitMs: 0 })) {
        const vectors = new Map<string, Float32Array>();
        const complete: OpenDocument[] = [];
        for (const embedded of group) {
          const { document, vector, space: _, ...chunk } = embedded;
          vectors.set(vectorKey(chunk), vector);
          if (open && open.document.uri !== document.uri) {
            complete.push(open);
            open = undefined;
          }
          open ??= { document, chunks: [] };
          open.chunks.push(chunk);
        }
        yield* write(vectors, complete);
      }
      if (open) yield* write(new Map(), [open]);

      async function* write(
        vectors: ReadonlyMap<string, Float32Array>,
        complete: readonly OpenDocument[],
      ): AsyncGenerator<StoredDocument> {
        const documents = complete.filter(({ document }) => !context.failures.has(document.uri));
        if (vectors.size === 0 && documents.length === 0) return;
        for (const written of await kb.write({ vectors, documents })) {
          const { uri, outcome, chunks, deletedChunks } = written;
          context.report({ type: "document", uri, outcome, chunks, deletedChunks });
          yield { storedUri: uri, outcome, chunks, deletedChunks };
        }
      }
    },
    { takes: dimension === undefined ? { space } : { space, dimension } },
  );
}

interface OpenDocument extends DocumentWrite {
  readonly chunks: Chunk[];
}
