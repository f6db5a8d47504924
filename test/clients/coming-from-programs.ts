// The other libraries' columns of examples/coming-from, written out: compiled by `npm run types:clients` and not run, so that a name
// of the table that is used otherwise than it says does not compile.
import { createRetrievalChain } from "@langchain/classic/chains/retrieval";
import { DirectoryLoader } from "@langchain/classic/document_loaders/fs/directory";
import { TextLoader } from "@langchain/classic/document_loaders/fs/text";
import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble";
import type { Embeddings } from "@langchain/core/embeddings";
import { type RecordManager, index } from "@langchain/core/indexing";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseRetriever } from "@langchain/core/retrievers";
import type { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import type { Runnable } from "@langchain/core/runnables";
import type { VectorStore } from "@langchain/core/vectorstores";
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters";
import { SimpleDirectoryReader } from "@llamaindex/readers/directory";
import {
  type EmbeddingModel,
  type LanguageModel,
  type RerankingModel,
  cosineSimilarity,
  embed,
  embedMany,
  generateText,
  rerank,
  streamText,
  tool as toolOfAiSdk,
} from "ai";
import { createAgent, tool as toolOfLangChain } from "langchain";
import * as llama from "llamaindex";
import { z } from "zod";

const question = "When do API keys expire?";
const input = z.object({ key: z.string() });

interface LangChainParts {
  readonly embeddings: Embeddings;
  readonly Store: typeof VectorStore;
  readonly records: RecordManager;
  readonly byWords: BaseRetriever;
  readonly reranker: BaseDocumentCompressor;
  readonly model: BaseChatModel;
  readonly combineDocs: Runnable<Record<string, unknown>, string>;
}

export async function langChain({ embeddings, Store, records, byWords, reranker, model, combineDocs }: LangChainParts) {
  const documents = await new DirectoryLoader("docs", { ".md": (path) => new TextLoader(path) }).load();
  const chunks = await new RecursiveCharacterTextSplitter({ chunkSize: 1000 }).splitDocuments(documents);
  const store = await Store.fromDocuments(chunks, embeddings, {});
  await index({ docsSource: chunks, recordManager: records, vectorStore: store, options: { cleanup: "full" } });
  await store.asRetriever({ k: 3, filter: { team: "north" } }).invoke(question);
  const retriever = new ContextualCompressionRetriever({
    baseCompressor: reranker,
    baseRetriever: new EnsembleRetriever({ retrievers: [store.asRetriever(20), byWords], weights: [0.5, 0.5] }),
  });
  const chain = await createRetrievalChain({ retriever, combineDocsChain: combineDocs });
  const { answer, context } = await chain.invoke({ input: question });
  for await (const { answer: part } of await chain.stream({ input: question })) part?.toUpperCase();
  const status = toolOfLangChain(({ key }) => `${key} expired`, { name: "status", schema: input });
  await createAgent({ model, tools: [status] }).invoke({ messages: question });
  return { answer, sources: context.map(({ metadata }) => metadata) };
}

export async function llamaIndex(postprocessor: llama.BaseNodePostprocessor, docStore: llama.BaseDocumentStore) {
  const documents = await new SimpleDirectoryReader().loadData("docs");
  await new llama.IngestionPipeline({
    transformations: [new llama.SentenceSplitter({ chunkSize: 512 })],
    docStore,
  }).run({
    documents,
  });
  const vectors = await llama.VectorStoreIndex.fromDocuments(documents);
  const filters: llama.MetadataFilters = { filters: [{ key: "team", value: "north", operator: "==" }] };
  await vectors.asRetriever({ similarityTopK: 3, filters }).retrieve({ query: question });
  const engine = vectors.asQueryEngine({ nodePostprocessors: [postprocessor] });
  const { sourceNodes } = await engine.query({ query: question });
  for await (const part of await engine.query({ query: question, stream: true })) part.delta.toUpperCase();
  const status = llama.tool(({ key }) => `${key} expired`, {
    name: "status",
    description: "Status of a key.",
    parameters: input,
  });
  return { sourceNodes, status };
}

interface AiSdkParts {
  readonly embeddingModel: EmbeddingModel;
  readonly rerankingModel: RerankingModel;
  readonly model: LanguageModel;
}

export async function aiSdk({ embeddingModel, rerankingModel, model }: AiSdkParts, chunks: string[]) {
  const { embeddings } = await embedMany({ model: embeddingModel, values: chunks });
  const { embedding } = await embed({ model: embeddingModel, value: question });
  const best = chunks.toSorted(
    (a, b) =>
      cosineSimilarity(embedding, embeddings[chunks.indexOf(b)]!) -
      cosineSimilarity(embedding, embeddings[chunks.indexOf(a)]!),
  );
  const { rerankedDocuments } = await rerank({ model: rerankingModel, documents: best.slice(0, 20), query: question });
  const prompt = `${rerankedDocuments.join("\n")}\n\n${question}`;
  const status = toolOfAiSdk({
    description: "Status of a key.",
    inputSchema: input,
    execute: ({ key }) => `${key} expired`,
  });
  const { text } = await generateText({ model, prompt, tools: { status } });
  for await (const part of streamText({ model, prompt }).textStream) part.toUpperCase();
  return text;
}
