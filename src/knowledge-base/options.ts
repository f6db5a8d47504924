import { z } from "zod";
import type { Conversation, ConversationOptions } from "./conversation.js";
import type { Filter } from "../core/filter.js";
import type { DocumentSource } from "../load/sources/source.js";
import { type ChatModelOptions, chatModelOptions } from "../models/chat-model.js";
import { observerOption, optionsOf, secret } from "../core/options.js";
import type { ChatModel, CloseOptions, Embedder, Reranker, Searchable, Store } from "../core/ports.js";
import type { ModelFolder } from "./connect-models.js";
import type { IngestReport } from "./ingest/ledger.js";
import type { IngestRunOptions } from "./ingest/run.js";
import type { MapDocumentsOptions } from "./ingest/map-documents.js";
import type { RereadOptions } from "./ingest/run-memory.js";
import { type GivenChunkOptions, givenChunkOptions } from "./ingest/settings.js";
import type { IngestPlan } from "./plan.js";
import {
  chatModelPort,
  type Ask,
  type Resume,
  type RetrievalSettings,
  retrievalSettings,
  type SearchPassagesOptions,
} from "./question-options.js";
import { distributedOptions, type PostgresStoreOptions } from "../store/postgres/options.js";
import type { ConversationInfo, ConversationPage } from "../store/conversations/conversation-list.js";
import type { FeedbackSelection, RatedAnswer } from "../store/conversations/feedback.js";
import { isChunkTarget } from "../stages/indexing/chunk.js";
import { type Fusion, fusionOptions } from "../stages/retrieval/search.js";
import type { SpendingOptions } from "./ingest/spending.js";
import type { Source } from "../core/stream.js";
import type { Transport } from "../transport/transport.js";
import type { Document, Hit, Metadata, Retrieved, Trace } from "../core/types.js";

/** Whether a value has these fields: enough to tell a port from values often passed in its place. */
const has =
  (...fields: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === "object" && value !== null && fields.every((field) => field in value);

export interface KnowledgeBaseOptions {
  /**
   * Folder of the store, or the address of a PostgreSQL database with pgvector: `postgres://…`, which may
   * be the coordinator of a Citus cluster, and may name a schema: `?schema=docs`. Default: `./.citewell`.
   */
  readonly path?: string;
  /** False: a store that is not there is an error instead of made. Default: true. */
  readonly create?: boolean;
  /**
   * Spreads a new store over the nodes of the Citus cluster whose coordinator `path` names; see `openPostgresStore`. Default: a
   * store is opened as it is, and a new one is on one server.
   */
  readonly distributed?: PostgresStoreOptions["distributed"];
  /** Carries the requests. Default: one to the models of the local service, in this process, with no key and no network. */
  readonly transport?: Transport;
  /** A store of your own, in place of the one at `path`; it is yours to close. Default: the embedded store at `path`. */
  readonly store?: Store;
  /** An embedder of your own, in place of `models.embedding`. Its space is the store's. */
  readonly embedder?: Embedder;
  /** A reranker of your own, in place of `models.rerank`. */
  readonly reranker?: Reranker;
  /** A chat model of your own, in place of `models.chat`. */
  readonly chatModel?: ChatModel;
  /** A model of your own that sees pictures, in place of `models.picture`. */
  readonly pictureModel?: ChatModel;
  /** Models by id. Default: the local service's; a transport of your own needs `embedding` and, to ask, `chat`. */
  readonly models?: {
    /**
     * Makes vectors: an id, or the folder of a model, which is computed in this process with the prompts that it was trained
     * with: a static one (Model2Vec, or StaticEmbedding of sentence-transformers) needs the optional package
     * `@huggingface/tokenizers`, any other is one for ONNX, and needs `@huggingface/transformers` as well. Default without a transport
     * of your own: the local service's, which computes with words.
     */
    readonly embedding?: string | ModelFolder;
    /** Id of the model that ranks passages. Default with a transport of your own: none, the order of the search stays. */
    readonly rerank?: string;
    /** Id of the model that answers questions. Default without a transport of your own: the local stand-in, which quotes passages. */
    readonly chat?: string;
    /**
     * Id of the model that describes pictures of questions where the one that answers sees none. Default without a transport of
     * your own: the local stand-in, which tells size and colours; else none.
     */
    readonly picture?: string;
  };
  /** How the chat model is asked: thinking, length, the form of tool results. Default: as `chatModel` has it. */
  readonly chat?: Omit<ChatModelOptions, "model">;
  /**
   * How documents are cut; see `chunk`. Default of each setting: as it was when the store was last filled, else as `chunk`
   * has it.
   */
  readonly chunk?: GivenChunkOptions;
  /**
   * Weights of vectors and words in a hybrid search, 0 or more. Default: those of `search`; with an embedding model of
   * the local service's 0.1 for `dense`, because its vectors are made of words too and add no independent evidence.
   */
  readonly weights?: Fusion["weights"];
  /** How passages are found where a call does not say, as `tune` finds it. Default: as `search` and `ask` have it. */
  readonly retrieval?: RetrievalSettings;
  /**
   * A model of the texts themselves as a third side of hybrid search; see `latent` of `openStore`. Default: `auto` with an
   * embedding model of the local service's, else false; a PostgreSQL store has none.
   */
  readonly latent?: boolean | "auto";
  /**
   * Schema of every document's metadata: documents that do not fit it fail, and filters know its fields. Default: nothing is
   * refused.
   */
  readonly metadata?: z.ZodObject;
  /** True: `search`, `ask` and `documents` work only through `scoped(filter)`. Default: false. */
  readonly requireScope?: boolean;
  /** Embedding requests in flight at once, 1 to 256. Default: 8. */
  readonly concurrency?: number;
  /** Called with a line about each feature that works below its potential. Default: warnings are dropped. */
  readonly onWarning?: (message: string) => void;
}

/** @internal */
export const knowledgeBaseOptions = optionsOf<KnowledgeBaseOptions>()({
  path: z.string().min(1).default("./.citewell"),
  create: z.boolean().default(true),
  distributed: distributedOptions.optional(),
  // People pass the key, or the address of a database, in the place of these.
  transport: secret(
    z.custom<Transport>(has("embeddings", "models"), "must be made by createTransport({ baseUrl, apiKey })"),
  ).optional(),
  store: secret(z.custom<Store>(has("write", "scoped"), "must be a store, as openStore() returns it")).optional(),
  embedder: z
    .custom<Embedder>(
      (value) => has("space", "maxBatchTexts", "embed")(value) && isChunkTarget(value),
      "must be an embedder: { space, maxInputTokens, maxBatchTexts, tokens: { name, count }, embed }",
    )
    .optional(),
  reranker: z.custom<Reranker>(has("rerank"), "must be a reranker: an object with rerank()").optional(),
  chatModel: chatModelPort.optional(),
  pictureModel: chatModelPort.optional(),
  models: z
    .strictObject({
      embedding: z.union([z.string().min(1), z.strictObject({ folder: z.string().min(1) })]).optional(),
      rerank: z.string().min(1).optional(),
      chat: z.string().min(1).optional(),
      picture: z.string().min(1).optional(),
    })
    .default({}),
  chat: chatModelOptions.omit({ model: true }).prefault({}),
  chunk: givenChunkOptions.default({}),
  weights: fusionOptions.shape.weights,
  retrieval: retrievalSettings.optional(),
  latent: z.union([z.boolean(), z.literal("auto")]).optional(),
  metadata: z.instanceof(z.ZodObject).optional(),
  requireScope: z.boolean().default(false),
  concurrency: z.int().min(1).max(256).default(8),
  onWarning: observerOption<(message: string) => void>("onWarning").optional(),
});

/** How one ingest of a knowledge base runs, and what it may cost. */
export interface IngestRunAndBudgetOptions
  extends IngestRunOptions, SpendingOptions, RereadOptions, MapDocumentsOptions {}

export interface PlanOptions
  extends IngestRunOptions, Pick<SpendingOptions, "price">, RereadOptions, MapDocumentsOptions {}

/** A document whose metadata has these fields. */
type DocumentWith<Fields extends object> = Omit<Document, "metadata"> & {
  /** Facts that filters test, as the schema has them. Without it a document counts as one with none of the fields. */
  readonly metadata?: Fields;
};

/** The list stands for itself, though it is a source: a compiler then names the field that is wrong in it, in one line. */
type DocumentsOf<Fields extends object> =
  | readonly DocumentWith<Fields>[]
  | Source<DocumentWith<Fields>>
  | DocumentSource;

type HitWith<Fields extends object> = Omit<Hit, "metadata"> & {
  /** Metadata, as the schema has it. */
  readonly metadata?: Fields;
};

/**
 * Documents that can be searched and asked: the ready-made assembly of the public stages. `Fields`: the metadata of the
 * documents, if it was opened with a schema.
 */
export interface KnowledgeBase<Fields extends object = Metadata> {
  /** The store behind it, for stages of your own. */
  readonly store: Store<string, Fields>;
  /**
   * Brings the store up to date with a source: new, changed and, for sources that know their own documents, vanished
   * ones. If stopped, run it again: it resumes where it was. A budget (`maxTokens`, `maxCost`) ends it before the
   * request that would exceed it, and the report says so in `stopped`.
   */
  readonly ingest: (source: DocumentsOf<Fields>, options?: IngestRunAndBudgetOptions) => Promise<IngestReport>;
  /** Estimates the work and cost of `ingest`: reads and cuts the source, but sends and changes nothing. */
  readonly plan: (source: DocumentsOf<Fields>, options?: PlanOptions) => Promise<IngestPlan>;
  /** Finds passages, best first, without asking a chat model. */
  readonly search: (
    question: string,
    options?: SearchPassagesOptions<Fields>,
  ) => Promise<
    Omit<Retrieved, "hits"> & {
      /** Passages, best first, each with the metadata of its document. */
      readonly hits: readonly HitWith<Fields>[];
      /** Every step of the search; `trace.why(chunkId)` tells where a chunk was lost. */
      readonly trace: Trace;
    }
  >;
  /** Makes the vectors of documents and questions. */
  readonly embedder: Embedder;
  /** Orders what a search found; `undefined` where none is connected. */
  readonly reranker: Reranker | undefined;
  /** False when no chat model is connected: answers are then the passages nearest to the question, word for word. */
  readonly hasChatModel: boolean;
  /** Whether a model that sees pictures is connected: questions may have pictures then. False for the local stand-in, unless it is named. */
  readonly seesPictures: boolean;
  /**
   * Streams an answer as it is made; the stream ends with exactly one `finish` or `error`. Nothing is sent before the loop
   * begins. Leaving the loop aborts the search, the model and its tools. An aborted `signal` does so, too, and ends the stream
   * with an `error` event that carries the signal's `reason`.
   */
  readonly ask: Ask<Fields>;
  /**
   * Continues an answer that waits for approval, in any process that has the same store: runs the approved calls, tells
   * the model of the refused ones, and streams the rest of the answer, which ends with exactly one `finish` or `error`.
   * A decision is stored before its call runs, so that no call runs twice: of two callers that decide, one gets an
   * `AnswerError` (`decided`). If the answer fails or its process ends, `resume(waiting, {})` continues from the stored
   * decisions.
   *
   * @throws OptionsError when the answer waits in another scope, or was not paused by this release.
   */
  readonly resume: Resume;
  /** The documents that are stored, all or those of one source, in order of uri; see `Searchable.documents`. */
  readonly documents: Searchable["documents"];
  /** A document as it was written, with its text; `undefined` when there is none of that uri, or none in this scope. */
  readonly document: (uri: string) => Promise<Document | undefined>;
  /**
   * Deletes documents by uri, as far as the scope lets them through; unknown uris are ignored. Their files are untouched: a
   * source that still has them brings them back with the next ingest. A path in place of the uri that a file's document has
   * (`docs/a.md` for `file:///…/docs/a.md`) is an OptionsError that names the uri, and nothing is deleted.
   */
  readonly deleteDocuments: Store["deleteDocuments"];
  /** Search and answers within the documents that the filter lets through: those of one tenant or one reader. */
  readonly scoped: (filter: Filter<Fields>) => ScopedKnowledgeBase<Fields>;
  /** Checks that the store is intact, and measures the recall of search; see `Store.verify`. */
  readonly verify: Store["verify"];
  /**
   * A conversation that is kept beside the documents: a new one, or the one of that id. It belongs to the scope that began
   * it: the same id within another scope is another conversation.
   */
  readonly conversation: (options: ConversationOptions) => Conversation<Fields>;
  /**
   * The conversations of this scope, or of one owner within it, those with the last question first. With `limit` a page of
   * them, which costs the same however many there are; the next page is that `after` the last one of this.
   */
  readonly conversations: (page?: ConversationPage) => Promise<readonly ConversationInfo[]>;
  /**
   * The answers of this scope's conversations that readers have rated, the latest rating first. It reads every stored answer
   * once.
   *
   * @example
   * for (const { question, feedback } of await kb.feedback({ rating: "down" })) console.log(question, feedback.note);
   */
  readonly feedback: (selection?: FeedbackSelection) => Promise<readonly RatedAnswer[]>;
  /**
   * Threads that search, so that the thread which answers does not: for servers. See `ReaderOptions`.
   *
   * @throws OptionsError where the store is not one that `path` names.
   */
  readonly readers: (options: ReaderOptions) => ReaderThreads<Fields>;
  /**
   * Waits for writes and searches under way, saves the indexes and closes the store; see `Store.close`. Calls made afterwards fail.
   * A transport that was passed in stays open.
   */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/** Threads that search beside the one that answers, each with the store's indexes in its memory. */
export interface ReaderOptions {
  /** Maximum number of threads, 1 to 64. The first starts when two searches come at once, another when all are busy. */
  readonly workers: number;
  /** Maximum number of searches that wait, 1 to 1,000,000; more are refused with a `StoreError` (`busy`). Default: 1,000. */
  readonly maxWaiting?: number;
}

/** @internal */
export const readerOptions = optionsOf<ReaderOptions>()({
  workers: z.int().min(1).max(64),
  maxWaiting: z.int().min(1).max(1_000_000).default(1000),
});

/**
 * A knowledge base whose searches are made by threads, and so are reranking and answers by the models of the local service.
 * Until a thread has read the indexes, and where none can be started, the searches are made as without them.
 */
export interface ReaderThreads<Fields extends object = Metadata> {
  /** The same documents and conversations. Callers take turns: one with many questions keeps no other waiting. */
  readonly as: (caller: string) => ScopedKnowledgeBase<Fields>;
  /** Number of searches that wait for their turn. */
  readonly waiting: () => number;
  /** Number of threads that have read the indexes. */
  readonly threads: () => number;
  /** Ends the threads. The knowledge base stays open. */
  readonly close: () => Promise<void>;
}

/** The side of a knowledge base that works within a scope. */
export type ScopedKnowledgeBase<Fields extends object = Metadata> = Pick<
  KnowledgeBase<Fields>,
  | "search"
  | "ask"
  | "resume"
  | "documents"
  | "document"
  | "deleteDocuments"
  | "scoped"
  | "conversation"
  | "conversations"
  | "feedback"
>;
