import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import type { BaseRetriever } from "@langchain/core/retrievers";
import type { Embeddings } from "@langchain/core/embeddings";
import type { VectorStore } from "@langchain/core/vectorstores";
import { missingPeer } from "../../core/errors.js";

export type { BaseChatModelCallOptions, BindToolsInput } from "@langchain/core/language_models/chat_models";
export type { BaseMessage } from "@langchain/core/messages";
export type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
export type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
export type { DocumentInterface } from "@langchain/core/documents";
export type { RunnableConfig } from "@langchain/core/runnables";
export type { BaseChatModel, BaseDocumentCompressor, BaseRetriever, Embeddings, VectorStore };

/** LangChain's base classes, which the adapters extend. */
export type LangChainCore = Awaited<ReturnType<typeof load>>;

async function load() {
  const parts = await Promise.all([
    import("@langchain/core/language_models/chat_models"),
    import("@langchain/core/retrievers"),
    import("@langchain/core/retrievers/document_compressors"),
    import("@langchain/core/embeddings"),
    import("@langchain/core/vectorstores"),
    import("@langchain/core/documents"),
    import("@langchain/core/messages"),
    import("@langchain/core/outputs"),
    import("@langchain/core/utils/function_calling"),
  ]);
  const [chat, retrievers, compressors, embeddings, stores, documents, messages, outputs, calling] = parts;
  return {
    BaseChatModel: chat.BaseChatModel,
    BaseRetriever: retrievers.BaseRetriever,
    BaseDocumentCompressor: compressors.BaseDocumentCompressor,
    Embeddings: embeddings.Embeddings,
    VectorStore: stores.VectorStore,
    Document: documents.Document,
    AIMessageChunk: messages.AIMessageChunk,
    ChatGenerationChunk: outputs.ChatGenerationChunk,
    convertToOpenAITool: calling.convertToOpenAITool,
  };
}

/** @throws OptionsError `missing-package` when LangChain is not installed, or in a version without these classes. */
export function loadLangChain(): Promise<LangChainCore> {
  return load().catch(missingPeer("LangChain", "@langchain/core", "1"));
}
