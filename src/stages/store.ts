import { type RunContext, stage, type Stage } from "../pipeline.js";
import type { DocumentWrite, Store, StoreWrite } from "../ports.js";
import { batch, mapConcurrent } from "../stream.js";
import { vectorKey } from "../text/chunk-identity.js";
import type { Chunk, DocumentChunk, Embedded, StoredDocument } from "../types.js";

/** Most chunks in one transaction: a megabyte of vectors. All that waits for it lives long enough to burden the heap. */
const mostChunks = 256;

/** One that is committed while the store's indexes take over what the one before it brought. */
const writesUnderWay = 2;

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
      const writes = mapConcurrent(gathered(source, context), (write) => kb.write(write), {
        concurrency: writesUnderWay,
      });
      for await (const documents of writes) {
        for (const { uri, outcome, chunks, deletedChunks } of documents) {
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

/** A document waits for its last chunk, its vectors do not. By name: leaving out what is too much takes V8 far longer. */
function withoutVector({ id, documentId, start, end, text, context, tokens, parent }: Chunk): Chunk {
  return { id, documentId, start, end, text, context, tokens, ...(parent && { parent }) };
}

/** What arrived together as one write, with the documents that are complete by then. */
async function* gathered(
  source: AsyncIterable<Embedded<DocumentChunk>>,
  { failures }: Pick<RunContext, "failures">,
): AsyncGenerator<StoreWrite> {
  const sound = ({ document }: DocumentWrite) => !failures.has(document.uri);
  let open: OpenDocument | undefined;
  for await (const group of batch(source, { count: mostChunks, waitMs: 0 })) {
    const vectors = new Map<string, Float32Array>();
    const complete: OpenDocument[] = [];
    for (const embedded of group) {
      const { document, vector } = embedded;
      vectors.set(vectorKey(embedded), vector);
      if (open && open.document.uri !== document.uri) {
        complete.push(open);
        open = undefined;
      }
      open ??= { document, chunks: [] };
      open.chunks.push(withoutVector(embedded));
    }
    yield { vectors, documents: complete.filter(sound) };
  }
  if (open && sound(open)) yield { documents: [open] };
}
