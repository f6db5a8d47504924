import { checkStorePart } from "../../core/check-port.js";
import { asError, StoreError, OptionsError } from "../../core/errors.js";
import { checkDetails } from "../../core/metadata.js";
import { type RunContext, stage, type Stage } from "../../core/pipeline.js";
import type { DocumentWrite, Store, StoreWrite, WrittenDocument } from "../../core/ports.js";
import { batch, mapConcurrent } from "../../core/stream.js";
import type { Chunk, Document, DocumentChunk, Embedded, StoredDocument } from "../../core/types.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";

/** Maximum chunks in one transaction, about a megabyte of vectors: what waits longer burdens the heap. */
const maxChunks = 256;

/** One write commits while the store's indexes absorb the previous one. */
const writesInFlight = 2;

/**
 * Writes arrived chunks, in one transaction at a time. Vectors are stored as they come, so that an interrupted run has
 * paid for nothing in vain; a document replaces its stored version once all its chunks have arrived, that is when a
 * chunk of another document comes or the stream ends without an error. Documents in `context.failures` stay as they
 * were.
 *
 * @example
 * ```ts
 * import { chunk, collect, embedChunks, Pipeline, store, type Document, type Embedder, type Store } from "citewell";
 * export const add = (kb: Store<"my-model">, embedder: Embedder<"my-model">, documents: readonly Document[]) =>
 *   collect(Pipeline.from<Document>().pipe(chunk()).pipe(embedChunks(embedder)).pipe(store(kb)).stream(documents));
 * ```
 */
export function store<Space extends string>(
  kb: Pick<Store<Space>, "space" | "dimension" | "write">,
): Stage<Embedded<DocumentChunk, Space>, StoredDocument> {
  checkStorePart("store", kb, ["write"]);
  const { space, dimension } = kb;
  return stage(
    "store",
    async function* (source, context) {
      const write = async ({ vectors, documents = [] }: StoreWrite) => {
        const kept = vectors && { vectors };
        try {
          return await kb.write({ ...kept, documents });
        } catch (error) {
          // Keep the vectors that were paid for, whatever made the write of the documents fail.
          await kb.write({ ...kept }).catch(() => {});
          if (error instanceof StoreError || context.signal.aborted) throw error;
          return await writeOneByOne(kb, documents, context);
        }
      };
      const writes = mapConcurrent(gathered(source, context), write, { concurrency: writesInFlight });
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

/** Writes each document alone, so that one that the store cannot take fails without the others. */
async function writeOneByOne(
  kb: Pick<Store, "write">,
  documents: readonly DocumentWrite[],
  { failures, report }: Pick<RunContext, "failures" | "report">,
): Promise<WrittenDocument[]> {
  const written: WrittenDocument[] = [];
  for (const currentDocument of documents) {
    const { uri } = currentDocument.document;
    try {
      for (const one of await kb.write({ documents: [currentDocument] })) written.push(one);
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      const error = asError(thrown);
      failures.set(uri, error);
      report({ type: "document", uri, outcome: "failed", chunks: 0, error });
    }
  }
  return written;
}

interface OpenDocument extends DocumentWrite {
  readonly chunks: Chunk[];
}

/** A document waits for its last chunk; its vectors need not. Fields are named since V8 omits others far more slowly. */
function withoutVector({ id, documentId, start, end, text, context, tokens, parent }: Chunk): Chunk {
  return { id, documentId, start, end, text, context, tokens, ...(parent && { parent }) };
}

/** Gathers what arrived together into one write, with the documents that are complete by then. */
async function* gathered(
  source: AsyncIterable<Embedded<DocumentChunk>>,
  { failures }: Pick<RunContext, "failures">,
): AsyncGenerator<StoreWrite> {
  const isWhole = ({ document }: DocumentWrite) => !failures.has(document.uri);
  let open: OpenDocument | undefined;
  for await (const group of batch(source, { count: maxChunks, waitMs: 0 })) {
    const vectors = new Map<string, Float32Array>();
    const complete: OpenDocument[] = [];
    for (const embedded of group) {
      const { document, vector } = embedded;
      // Only where types are not checked: the wrong order does not compile.
      if ((vector as Float32Array | undefined) === undefined) throw withoutVectors();
      vectors.set(vectorKey(embedded), vector);
      if (open && open.document !== document) {
        complete.push(open);
        open = undefined;
      }
      open ??= { document, chunks: [] };
      open.chunks.push(withoutVector(embedded));
    }
    yield { vectors, documents: complete.filter(isWhole) };
  }
  if (open && isWhole(open)) yield { documents: [open] };
}

function withoutVectors(): OptionsError {
  return new OptionsError("facts", "store: the chunks have no vectors. Put embedChunks() before store()", {
    option: "pipe",
  });
}

/**
 * Stores documents without a word, which have no chunk to carry them through the pipeline, and passes on all others. So a
 * document that was emptied loses its old chunks.
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
      for (const written of await into.write({ documents: [{ document, chunks: [] }] })) {
        context.report({ type: "document", ...written });
      }
    }
  });
}

/**
 * Passes on documents whose metadata fits the store's schema, and whose other fields any store can hold; any other
 * fails, with the reason, before anything is spent on it, and its stored version stays. A title is made well-formed: it
 * may have been cut from a text.
 */
export function fitMetadata({ metadataSchema }: Pick<Store, "metadataSchema">): Stage<Document, Document> {
  return stage("fit-metadata", async function* (source, { failures }) {
    for await (const given of source) {
      const { title } = given;
      const document = title?.isWellFormed() === false ? { ...given, title: title.toWellFormed() } : given;
      try {
        checkDetails(metadataSchema, document);
      } catch (error) {
        failures.set(document.uri, asError(error));
        continue;
      }
      yield document;
    }
  });
}
