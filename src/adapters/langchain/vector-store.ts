import { FailedDocumentsError, OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import type { Chunk, Document } from "../../core/types.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { chunkId, vectorKey } from "../../text/chunking/chunk-identity.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import type { DocumentInterface, Embeddings, LangChainCore, VectorStore } from "./core.js";
import { documentsOf } from "./read-langchain.js";
import { documentOf } from "./retriever.js";

interface AddOptions {
  /** Ids in the order of the documents. */
  readonly ids?: readonly string[];
}

/**
 * The store of a knowledge base as a vector store. A document's id is its `uri`: adding it again replaces it, and unchanged text
 * is not embedded again.
 */
export function vectorStoreOf(core: LangChainCore, knowledgeBase: KnowledgeBase, embeddings: Embeddings): VectorStore {
  const { store, ingest, deleteDocuments } = knowledgeBase;
  class CitewellVectorStore extends core.VectorStore {
    declare FilterType: Filter;

    _vectorstoreType(): string {
      return "citewell";
    }

    async addDocuments(documents: DocumentInterface[], { ids }: AddOptions = {}): Promise<string[]> {
      const named = withIds(documents, ids);
      const { failures } = await ingest(named);
      if (failures.length > 0) {
        throw new FailedDocumentsError(new Map(failures.map(({ uri, error }) => [uri, error])));
      }
      return named.map(({ uri }) => uri);
    }

    async addVectors(vectors: number[][], documents: DocumentInterface[], { ids }: AddOptions = {}): Promise<string[]> {
      if (vectors.length !== documents.length) {
        const problem = `addVectors: ${vectors.length} vectors for ${documents.length} documents`;
        throw new OptionsError("options", problem);
      }
      const writes = withIds(documents, ids).map((document) => ({ document, chunks: [wholeChunk(document)] }));
      const keyed = writes.map(
        ({ chunks }, index) => [vectorKey(chunks[0]!), Float32Array.from(vectors[index]!)] as const,
      );
      await store.write({ documents: writes, vectors: new Map(keyed) });
      return writes.map(({ document }) => document.uri);
    }

    override async delete({ ids }: { readonly ids: readonly string[] }): Promise<void> {
      await deleteDocuments(ids);
    }

    async similaritySearchVectorWithScore(
      query: number[],
      k: number,
      filter?: Filter,
    ): Promise<[DocumentInterface, number][]> {
      const within = filter === undefined ? {} : { filter };
      const found = await store.dense.retrieve({ text: "", vector: Float32Array.from(query) }, { count: k, ...within });
      const hits = await store.hits(found, within);
      return hits.map((hit) => [documentOf(core, hit), hit.score]);
    }
  }
  return new CitewellVectorStore(embeddings, {});
}

/** Without an id a document is named by its text, so that adding it again adds nothing. */
function withIds(documents: readonly DocumentInterface[], ids: readonly string[] = []): Document[] {
  return documentsOf(documents).map((document, index) => ({
    ...document,
    uri: ids[index] ?? documents[index]!.id ?? `langchain:${chunkId("langchain", document.text, 0)}`,
  }));
}

function wholeChunk({ uri, text }: Document): Chunk {
  const id = chunkId(uri, text, 0);
  return { id, documentId: uri, start: 0, end: text.length, text, context: "", tokens: defaultTokens.count(text) };
}
