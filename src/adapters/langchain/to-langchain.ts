import { z } from "zod";
import { optionsOf, resolve } from "../../core/options.js";
import type { ChatModel, Embedder, Reranker } from "../../core/ports.js";
import type { KnowledgeBase, ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { type SearchPassagesOptions, searchPassagesOptions } from "../../knowledge-base/question-options.js";
import {
  type BaseChatModel,
  type BaseDocumentCompressor,
  type BaseRetriever,
  type DocumentInterface,
  type Embeddings,
  type LangChainCore,
  loadLangChain,
  type VectorStore,
} from "./core.js";
import { chatModelOf } from "./chat-model.js";
import { retrieverOf } from "./retriever.js";
import { vectorStoreOf } from "./vector-store.js";

export interface ToLangChainOptions {
  /** Becomes the `retriever`: a knowledge base, or what `scoped` returned of it. With `embedder` a whole one becomes the `vectorStore`. */
  readonly knowledgeBase?: KnowledgeBase | ScopedKnowledgeBase;
  /** Search options of the retriever. Default: those of `search`. */
  readonly search?: Omit<SearchPassagesOptions, "signal" | "deadlineMs" | "report">;
  /** Becomes the `embeddings`. For the vector store, the one that the knowledge base embeds with. */
  readonly embedder?: Embedder;
  /** Becomes the `chatModel`. */
  readonly chatModel?: ChatModel;
  /** Becomes the `documentCompressor`. */
  readonly reranker?: Reranker;
}

const having = <Port>(method: string, is: string) =>
  z.custom<Port>((value) => typeof (value as Record<string, unknown> | null)?.[method] === "function", `must be ${is}`);

const toLangChainOptions = optionsOf<ToLangChainOptions>()({
  knowledgeBase: having<KnowledgeBase | ScopedKnowledgeBase>("search", "a knowledge base, with search()").optional(),
  search: searchPassagesOptions.omit({ signal: true, deadlineMs: true, report: true }).optional(),
  embedder: having<Embedder>("embed", "an embedder, with embed()").optional(),
  chatModel: having<ChatModel>("stream", "a chat model, with stream()").optional(),
  reranker: having<Reranker>("rerank", "a reranker, with rerank()").optional(),
});

/** Objects of LangChain's classes. */
export interface LangChainObjects {
  /** Passages of the knowledge base. Present when one was given. */
  readonly retriever?: BaseRetriever;
  /** The store of the knowledge base. Present when one was given together with an embedder. */
  readonly vectorStore?: VectorStore;
  /** Present when an embedder was given. */
  readonly embeddings?: Embeddings;
  /** Present when a chat model was given. */
  readonly chatModel?: BaseChatModel;
  /** Orders documents by a reranker, whose score is in `metadata.relevanceScore`. Present when a reranker was given. */
  readonly documentCompressor?: BaseDocumentCompressor;
}

/**
 * Wraps a knowledge base and ports as objects of LangChain.js.
 *
 * @throws OptionsError when an option is unknown or no port of its kind, and `missing-package` without `@langchain/core`.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { toLangChain } from "citewell/langchain";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { retriever } = await toLangChain({ knowledgeBase: kb, search: { count: 4 } });
 * const documents = await retriever!.invoke("When do keys expire?");
 * ```
 */
export async function toLangChain(options: ToLangChainOptions): Promise<LangChainObjects> {
  const {
    knowledgeBase,
    search = {},
    embedder,
    chatModel,
    reranker,
  } = resolve("toLangChain", toLangChainOptions, options);
  const core = await loadLangChain();
  const embeddings = embedder && embeddingsOf(core, embedder);
  return {
    ...(knowledgeBase && { retriever: retrieverOf(core, knowledgeBase, search) }),
    ...(embeddings && { embeddings }),
    ...(knowledgeBase &&
      "store" in knowledgeBase &&
      embeddings && { vectorStore: vectorStoreOf(core, knowledgeBase, embeddings) }),
    ...(chatModel && { chatModel: chatModelOf(core, chatModel) }),
    ...(reranker && { documentCompressor: compressorOf(core, reranker) }),
  };
}

function embeddingsOf(core: LangChainCore, { embed, maxBatchTexts }: Embedder): Embeddings {
  class CitewellEmbeddings extends core.Embeddings {
    async embedDocuments(texts: string[]): Promise<number[][]> {
      const starts = Array.from(
        { length: Math.ceil(texts.length / maxBatchTexts) },
        (_, index) => index * maxBatchTexts,
      );
      const parts = await Promise.all(starts.map((start) => embed(texts.slice(start, start + maxBatchTexts))));
      return parts.flatMap(({ vectors }) => vectors.map((vector) => [...vector]));
    }

    async embedQuery(text: string): Promise<number[]> {
      const { vectors } = await embed([text], { purpose: "query" });
      return [...vectors[0]!];
    }
  }
  return new CitewellEmbeddings({});
}

function compressorOf(core: LangChainCore, { rerank }: Reranker): BaseDocumentCompressor {
  class CitewellCompressor extends core.BaseDocumentCompressor {
    async compressDocuments(documents: DocumentInterface[], query: string): Promise<DocumentInterface[]> {
      const { results } = await rerank(
        query,
        documents.map(({ pageContent }) => pageContent),
      );
      return results.map(({ index, score }) => {
        const document = documents[index]!;
        return new core.Document({ ...document, metadata: { ...document.metadata, relevanceScore: score } });
      });
    }
  }
  return new CitewellCompressor();
}
