/**
 * The public surface of `citewell`: pipelines, stages, ports, the store and the knowledge base. The other entry points stand in
 * `exports` of package.json, one file each in `entries/`. Names that no entry point exports may change without notice.
 */

export type { ApprovalBook, Approvals, Decision, WaitingAnswer, WaitingCall } from "./core/approval.js";
export {
  AnswerError,
  BudgetError,
  CitewellError,
  FailedDocumentsError,
  LoadError,
  OptionsError,
  ReconciliationError,
  StoreError,
  TransportError,
} from "./core/errors.js";
export type {
  AnswerErrorCode,
  LoadErrorCode,
  OptionsErrorCode,
  StoreErrorCode,
  TransportErrorCode,
} from "./core/errors.js";
export type { Condition, Filter, Scalar } from "./core/filter.js";
export type { JsonSchema } from "./core/json.js";
export { Pipeline, mapStage, stage } from "./core/pipeline.js";
export type { RunContext, RunEvent, RunOptions, Stage } from "./core/pipeline.js";
export type { Facts, StageFacts } from "./core/stage-facts.js";
export type {
  CallOptions,
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatRequest,
  CloseOptions,
  DocumentWrite,
  EmbedCall,
  Embedder,
  Embeddings,
  Found,
  ReadCall,
  RecognizeCall,
  RerankCall,
  Reranker,
  Reranking,
  RetrievalQuery,
  RetrieveCall,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreSizes,
  StoreProblem,
  StoreSettings,
  StoreWrite,
  StoredDocumentInfo,
  PictureDescription,
  PictureReader,
  PictureToRead,
  TextRecognizer,
  TokenCounter,
  TokenMeasure,
  ToolDescription,
  ToolMessages,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "./core/ports.js";
export type { Price } from "./core/types.js";
export { collect } from "./core/stream.js";
export type { Source } from "./core/stream.js";
export { tool } from "./core/tool.js";
export type { AnyTool, Findings, Tool, ToolContext, ToolOptions } from "./core/tool.js";
export type {
  Anchor,
  PictureOrigin,
  Answer,
  AnswerAccount,
  AnswerEvent,
  Chunk,
  ChunkHistory,
  ChunkStep,
  Citation,
  CitedSentence,
  Document,
  DocumentChunk,
  Embedded,
  FinishReason,
  Hit,
  Json,
  Metadata,
  ModelRequest,
  Placement,
  QueryVariant,
  Question,
  RankedList,
  Retrieved,
  RetrieverView,
  Revision,
  Span,
  StoredDocument,
  Support,
  ToolExchange,
  Trace,
  TraceStep,
  Turn,
  Usage,
} from "./core/types.js";
export type { Conversation, ConversationOptions } from "./knowledge-base/conversation.js";
export { ingest } from "./knowledge-base/ingest.js";
export type { IngestOptions, OwnPipelineOptions, OwnPipelineRun, UsualIngestOptions } from "./knowledge-base/ingest.js";
export type { IngestProgress, IngestReport, LeftOutTotal } from "./knowledge-base/ingest/ledger.js";
export { migrateKnowledgeBase } from "./knowledge-base/migrate.js";
export type { MigrateOptions, MigrationReport } from "./knowledge-base/migrate.js";
export { openKnowledgeBase } from "./knowledge-base/open.js";
export type {
  IngestRunAndBudgetOptions,
  KnowledgeBase,
  KnowledgeBaseOptions,
  PlanOptions,
  ReaderOptions,
  ReaderThreads,
  ScopedKnowledgeBase,
} from "./knowledge-base/options.js";
export type {
  Ask,
  AskOptions,
  Resume,
  ResumeOptions,
  RewriteOptions,
  SearchPassagesOptions,
} from "./knowledge-base/question-options.js";
export { planIngest } from "./knowledge-base/plan.js";
export type { IngestPlan, PlanIngestOptions } from "./knowledge-base/plan.js";
export type { FileForMetadata, MetadataOfFile } from "./load/sources/operator-metadata.js";
export { readFile } from "./load/sources/read-file.js";
export type { ReadFileOptions } from "./load/sources/read-file.js";
export { readFolder } from "./load/sources/read-folder.js";
export type { PictureOptions } from "./load/pictures/picture-options.js";
export type { ReadFolderOptions } from "./load/sources/read-folder.js";
export type { DocumentSource } from "./load/sources/source.js";
export { readUrl } from "./load/web/read-url.js";
export type { ReadUrlOptions } from "./load/web/read-url.js";
export { chatModel } from "./models/chat-model.js";
export { pictureReader, type PictureReaderOptions } from "./models/picture-reader.js";
export type { ChatModelOptions } from "./models/chat-model.js";
export { embedder } from "./models/embedder.js";
export type { EmbedderOptions } from "./models/embedder.js";
export { reranker } from "./models/reranker.js";
export type { RerankerOptions } from "./models/reranker.js";
export { tokenizerFile } from "./models/tokenizer-file.js";
export type { AnswerOptions, ApprovalRequest, Approve } from "./stages/answering/answer-options.js";
export { answer, collectAnswer, resumeAnswer } from "./stages/answering/answer.js";
export type { Resumption } from "./stages/answering/answer.js";
export { searchTool } from "./stages/answering/search-tool.js";
export type { PassageSearch, SearchToolOptions } from "./stages/answering/search-tool.js";
export type { Budget, Charge } from "./core/ports.js";
export type { Payments } from "./stages/calls/payments.js";
export { chunk } from "./stages/indexing/chunk.js";
export type { ChunkOptions, ChunkTarget } from "./stages/indexing/chunk.js";
export { embedChunks } from "./stages/indexing/embed-chunks.js";
export type { EmbedChunksOptions } from "./stages/indexing/embed-chunks.js";
export { skipKnown } from "./stages/indexing/skip-known.js";
export { store } from "./stages/indexing/store.js";
export { condense } from "./stages/questions/condense.js";
export type { CondenseOptions } from "./stages/questions/condense.js";
export { embedQuestion } from "./stages/questions/embed-question.js";
export { parseSyntax } from "./stages/questions/parse-syntax.js";
export { hyde, multiQuery } from "./stages/questions/query-variants.js";
export type { HydeOptions, MultiQueryOptions } from "./stages/questions/query-variants.js";
export { diversify } from "./stages/retrieval/diversify.js";
export type { DiversifyOptions } from "./stages/retrieval/diversify.js";
export { fused } from "./stages/retrieval/fused.js";
export type { FusedOptions } from "./stages/retrieval/fused.js";
export { rerank } from "./stages/retrieval/rerank.js";
export type { RerankOptions } from "./stages/retrieval/rerank.js";
export { search } from "./stages/retrieval/search.js";
export type { Fusion, SearchOptions } from "./stages/retrieval/search.js";
export { widen } from "./stages/retrieval/widen.js";
export type { WidenOptions } from "./stages/retrieval/widen.js";
export type { ConversationInfo, ConversationPage } from "./store/conversations/conversation-list.js";
export type { FeedbackSelection, RatedAnswer } from "./store/conversations/feedback.js";
export type {
  AnswerFeedback,
  StoredAnswer,
  StoredCall,
  StoredExchange,
  StoredFeedback,
  StoredWait,
} from "./store/conversations/stored-exchange.js";
export { migrateBack } from "./store/migrate-back.js";
export { openStore } from "./store/open-store.js";
export type { StoreOptions } from "./store/store-options.js";
export { vectorKey } from "./text/chunking/chunk-identity.js";
export { defaultTokens } from "./text/tokens/tokens.js";
export type { TransportOptions } from "./transport/options.js";
export { createTransport } from "./transport/transport.js";
export type { Transport } from "./transport/transport.js";
