// The public surface. What is not named here may change without notice.

export type { Condition, Filter, Scalar } from "./filter.js";
export type {
  Anchor,
  Answer,
  AnswerAccount,
  AnswerEvent,
  Chunk,
  ChunkHistory,
  ChunkStep,
  Citation,
  Document,
  DocumentChunk,
  Embedded,
  Hit,
  Json,
  Metadata,
  ModelRequest,
  Placement,
  QueryVariant,
  RankedList,
  RetrieverView,
  Revision,
  Question,
  Retrieved,
  Span,
  StoredDocument,
  Support,
  ToolExchange,
  Trace,
  TraceStep,
  Turn,
  Usage,
} from "./types.js";

export {
  AnswerError,
  BudgetError,
  CitewellError,
  LoadError,
  OptionsError,
  ReconciliationError,
  StoreError,
  TransportError,
} from "./errors.js";
export type {
  AnswerErrorCode,
  LoadErrorCode,
  OptionsErrorCode,
  StoreErrorCode,
  Submission,
  TransportErrorCode,
} from "./errors.js";

export { batch, collect, groupRuns, mapConcurrent } from "./stream.js";
export type { BatchOptions, MapConcurrentOptions, Source } from "./stream.js";
export { Pipeline, createRunContext, mapStage, stage } from "./pipeline.js";
export type { Budget, Facts, RunContext, RunEvent, RunOptions, Stage, StageFacts } from "./pipeline.js";
export { tool } from "./tool.js";
export type { AnyTool, Findings, Tool, ToolContext, ToolOptions } from "./tool.js";

export type {
  CallOptions,
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatRequest,
  DocumentWrite,
  EmbedCall,
  Embedder,
  Embeddings,
  FinishReason,
  Found,
  JsonSchema,
  RerankCall,
  Reranker,
  Reranking,
  RetrievalQuery,
  ReadCall,
  RetrieveCall,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreProblem,
  StoreSettings,
  StoreWrite,
  StoredDocumentInfo,
  TokenCounter,
  TokenMeasure,
  ToolDescription,
  ToolMessages,
  Verification,
  CloseOptions,
  VerifyOptions,
  WrittenDocument,
} from "./ports.js";

export { startLocalService } from "./local/start-local-service.js";
export type { LocalService, LocalServiceOptions } from "./local/service.js";
export { localDefaults, localModels } from "./contract/catalogue.js";
export type { ModelFamily, ModelInfo, ModelType } from "./contract/catalogue.js";
export { openCassette } from "./transport/cassette.js";
export type { Cassette, CassetteMode } from "./transport/cassette.js";
export type { Price } from "./price.js";
export type { ModelTotals } from "./transport/totals.js";
export { createTransport } from "./transport/transport.js";
export type { Transport } from "./transport/transport.js";
export type { TransportOptions } from "./transport/options.js";
export type { TransportEvent } from "./transport/events.js";
export type { ChatResult, ChatStreamEvent, ToolCall } from "./transport/chat-result.js";
export type { ChatCallOptions, TransportChatRequest } from "./transport/chat.js";
export type { EmbeddingsResult } from "./transport/embeddings.js";
export type { RerankResult, RerankedDocument } from "./transport/rerank.js";
export { VideoError } from "./transport/video-error.js";
export type { VideoErrorCode } from "./transport/video-error.js";
export { videoCallbacks } from "./transport/video-callbacks.js";
export type { VideoCallbackOptions, VideoCallbacks } from "./transport/video-callbacks.js";
export type { CreatedVideoTask, CreateVideoCall } from "./transport/video-create.js";
export type { DownloadedVideo, DownloadVideoOptions } from "./transport/video-download.js";
export type { VideoPollOptions } from "./transport/video-poll.js";
export type { ReconciledVideo, ReconcileVideoOptions } from "./transport/video-reconcile.js";
export type { VideoTask } from "./transport/video-task.js";
export type { VideoTaskPage } from "./transport/video-tasks.js";
export type { VideoProgress, WaitForVideoOptions } from "./transport/video-wait.js";
export type { PublishedModel } from "./transport/list-models.js";
export type { MediaCheck } from "./transport/media/check-media.js";
export type { MediaProbe, ReadableMedium } from "./transport/media/media-probe.js";
export type { MediaFacts, MediaKind } from "./contract/media.js";
export type { VideoRequest } from "./contract/video.js";
export type { VideoContentItem } from "./contract/video-content.js";
export type { VideoStatus, VideoTaskListRequest } from "./contract/video-tasks.js";
export { lastFrameAsFirstFrame, videoContent } from "./models/video-content.js";
export type { MediaSource } from "./models/video-content.js";
export { embedder } from "./models/embedder.js";
export type { EmbedderOptions } from "./models/embedder.js";
export { tokenizerFile } from "./models/tokenizer-file.js";
export { reranker } from "./models/reranker.js";
export type { RerankerOptions } from "./models/reranker.js";
export { chatModel } from "./models/chat-model.js";
export type { ChatModelOptions } from "./models/chat-model.js";

export { allSources } from "./load/all-sources.js";
export type { FileToLoad, LoadedText, Loader } from "./load/loader.js";
export { readFile, readPath } from "./load/read-file.js";
export type { ReadFileOptions, ReadPathOptions } from "./load/read-file.js";
export { readFolder } from "./load/read-folder.js";
export type { ReadFolderOptions } from "./load/read-folder.js";
export { readSitemap } from "./load/web/read-sitemap.js";
export type { ReadSitemapOptions } from "./load/web/read-sitemap.js";
export { readUrl } from "./load/web/read-url.js";
export type { ReadUrlOptions } from "./load/web/read-url.js";
export { documentSource } from "./load/source.js";
export type { DocumentSource, ReadContext, SourceFiles } from "./load/source.js";
export { watchSource } from "./load/watch-source.js";
export type { WatchSourceOptions } from "./load/watch-source.js";

export { migrateBack } from "./store/migration.js";
export { openStore } from "./store/open-store.js";
export type { StoreOptions } from "./store/store-options.js";

export { answer } from "./stages/answer.js";
export type { AnswerOptions, ApprovalRequest, Approve } from "./stages/answer-options.js";
export { chunk } from "./stages/chunk.js";
export type { ChunkOptions, ChunkTarget } from "./stages/chunk.js";
export { collectAnswer } from "./stages/collect-answer.js";
export { condense } from "./stages/condense.js";
export type { CondenseOptions } from "./stages/condense.js";
export { deleteVanished } from "./stages/delete-vanished.js";
export { diversify } from "./stages/diversify.js";
export type { DiversifyOptions } from "./stages/diversify.js";
export { embedChunks } from "./stages/embed-chunks.js";
export type { EmbedChunksOptions } from "./stages/embed-chunks.js";
export { embedQuestion } from "./stages/embed-question.js";
export { fitMetadata } from "./stages/fit-metadata.js";
export { fused } from "./stages/fused.js";
export type { FusedOptions } from "./stages/fused.js";
export { hyde } from "./stages/hyde.js";
export type { HydeOptions } from "./stages/hyde.js";
export { multiQuery } from "./stages/multi-query.js";
export type { MultiQueryOptions } from "./stages/multi-query.js";
export type { IngestProgress, IngestReport } from "./stages/ingest-ledger.js";
export { parseSyntax } from "./stages/parse-syntax.js";
export { rerank } from "./stages/rerank.js";
export type { RerankOptions } from "./stages/rerank.js";
export { search } from "./stages/search.js";
export type { SearchOptions } from "./stages/search.js";
export { searchTool } from "./stages/search-tool.js";
export type { PassageSearch, SearchToolOptions } from "./stages/search-tool.js";
export { skipKnown } from "./stages/skip-known.js";
export { store } from "./stages/store.js";
export { storeBlank } from "./stages/store-blank.js";
export { widen } from "./stages/widen.js";
export type { WidenOptions } from "./stages/widen.js";

export { bootstrapInterval } from "./evaluate/bootstrap.js";
export type { BootstrapOptions, Interval } from "./evaluate/bootstrap.js";
export { openCollection } from "./evaluate/collection.js";
export type { Collection, CollectionFiles, JudgedQuery } from "./evaluate/collection.js";
export { compare } from "./evaluate/compare.js";
export type { Comparison, MetricChange } from "./evaluate/compare.js";
export { evaluate } from "./evaluate/evaluate.js";
export { evaluateAnswers, scoreAnswer } from "./evaluate/evaluate-answers.js";
export type {
  AnswerEvaluation,
  AnswerMetric,
  AnswerScores,
  AnswerableQuery,
  EvaluateAnswersOptions,
} from "./evaluate/evaluate-answers.js";
export { judgeAnswer, judgeRubric } from "./evaluate/judge-answer.js";
export type { Judgement } from "./evaluate/judge-answer.js";
export { readAnswers } from "./evaluate/read-answers.js";
export type { EvaluateOptions, Evaluation, MetricName, Scores } from "./evaluate/evaluate.js";
export { averagePrecision, ndcg, recall, reciprocalRank } from "./evaluate/metrics.js";
export type { Judgements } from "./evaluate/metrics.js";
export { randomisationTest } from "./evaluate/randomisation-test.js";
export type { RandomisationOptions } from "./evaluate/randomisation-test.js";
export { rankDocuments } from "./evaluate/rank-documents.js";

export { embeddingText, vectorKey } from "./text/chunk-identity.js";
export { placeInDocument, placeInHit } from "./text/places.js";
export { why } from "./text/why.js";
export { defaultTokens } from "./text/tokens.js";

export type { Conversation } from "./conversation.js";
export type { StoredExchange } from "./store/conversations.js";
export { openKnowledgeBase } from "./knowledge-base.js";
export type {
  Ask,
  AskOptions,
  IngestOptions,
  IngestPlan,
  Fusion,
  KnowledgeBase,
  KnowledgeBaseOptions,
  RewriteOptions,
  PlanOptions,
  ScopedKnowledgeBase,
  SearchPassagesOptions,
} from "./knowledge-base-options.js";
export { migrateKnowledgeBase } from "./migrate.js";
export type { MigrateOptions, MigrationReport } from "./migrate.js";
