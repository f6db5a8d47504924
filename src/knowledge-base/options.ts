import { z } from "zod";
import type { Conversation, ConversationOptions } from "./conversation.js";
import type { Filter } from "../core/filter.js";
import type { DocumentSource } from "../load/sources/source.js";
import { type ChatModelOptions, chatModelOptions } from "../models/chat-model.js";
import { optionsOf } from "../core/options.js";
import type { ChatModel, CloseOptions, Embedder, Reranker, Searchable, Store } from "../core/ports.js";
import type { ModelFolder } from "./connect-models.js";
import type { IngestReport } from "./ingest/ledger.js";
import type { IngestRunOptions } from "./ingest/run.js";
import type { RereadOptions } from "./ingest/run-memory.js";
import { type GivenChunkOptions, givenChunkOptions } from "./ingest/settings.js";
import type { IngestPlan } from "./plan.js";
import type { Ask, Resume, SearchPassagesOptions } from "./question-options.js";
import type { ConversationInfo } from "../store/conversations/conversations.js";
import { isChunkTarget } from "../stages/indexing/chunk.js";
import { type SearchOptions, searchOptions } from "../stages/retrieval/search.js";
import type { SpendingOptions } from "./ingest/spending.js";
import type { Source } from "../core/stream.js";
import type { Transport } from "../transport/transport.js";
import type { Document, Hit, Metadata, Retrieved, Trace } from "../core/types.js";

/** Whether a value has these fields: enough to tell a port from what is often passed in its place. */
const has =
  (...fields: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === "object" && value !== null && fields.every((field) => field in value);

export interface KnowledgeBaseOptions {
  /**
   * Folder of the store, or the address of a PostgreSQL database with pgvector: `postgres://…`; several, with commas between
   * them, for one that is spread over servers (`shards` of `openPostgresStore`). Default: `./.citewell`.
   */
  readonly path?: string;
  /** False: a store that is not there is an error instead of made. Default: true. */
  readonly create?: boolean;
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
  /** Models by id. Default: the local service's; a transport of your own needs `embedding` and, to ask, `chat`. */
  readonly models?: {
    /**
     * Makes vectors: an id, or the folder of a model as it is published for ONNX, which is computed in this process by the
     * optional packages `@huggingface/transformers` and `@huggingface/tokenizers`, with the prompts that it was trained with.
     */
    readonly embedding?: string | ModelFolder;
    /** Ranks passages. Default with a transport of your own: none, the order of the search stays. */
    readonly rerank?: string;
    /** Answers questions. */
    readonly chat?: string;
  };
  /** How the chat model is asked: thinking, length, the form of tool results. Default: as `chatModel` has it. */
  readonly chat?: Omit<ChatModelOptions, "model">;
  /**
   * How documents are cut; see `chunk`. Settings that are not given stay as they were when the store was last filled, else
   * as `chunk` has them.
   */
  readonly chunk?: GivenChunkOptions;
  /**
   * Weights of vectors and words in a hybrid search, 0 or more. Default: those of `search`; with an embedding model of the
   * local service's 0.2 for `dense`, because its vectors are made of words too and are no second opinion.
   */
  readonly weights?: SearchOptions["weights"];
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
  /** Called with a line about anything that works with less than it could. Default: nobody. */
  readonly onWarning?: (message: string) => void;
}

/** @internal */
export const knowledgeBaseOptions = optionsOf<KnowledgeBaseOptions>()({
  path: z.string().min(1).default("./.citewell"),
  create: z.boolean().default(true),
  transport: z
    .custom<Transport>(has("embeddings", "models"), "must be made by createTransport({ baseUrl, apiKey })")
    .optional(),
  store: z.custom<Store>(has("write", "scoped"), "must be a store, as openStore() returns it").optional(),
  embedder: z
    .custom<Embedder>(
      (value) => has("space", "maxBatchTexts", "embed")(value) && isChunkTarget(value),
      "must be an embedder: { space, maxInputTokens, maxBatchTexts, tokens: { name, count }, embed }",
    )
    .optional(),
  reranker: z.custom<Reranker>(has("rerank"), "must be a reranker: an object with rerank()").optional(),
  chatModel: z
    .custom<ChatModel>(has("model", "tokens", "stream"), "must be a chat model: { model, tokens, stream, … }")
    .optional(),
  models: z
    .strictObject({
      embedding: z.union([z.string().min(1), z.strictObject({ folder: z.string().min(1) })]).optional(),
      rerank: z.string().min(1).optional(),
      chat: z.string().min(1).optional(),
    })
    .default({}),
  chat: chatModelOptions.omit({ model: true }).prefault({}),
  chunk: givenChunkOptions.default({}),
  weights: searchOptions.shape.weights,
  latent: z.union([z.boolean(), z.literal("auto")]).optional(),
  metadata: z.instanceof(z.ZodObject).optional(),
  requireScope: z.boolean().default(false),
  concurrency: z.int().min(1).max(256).default(8),
  onWarning: z
    .custom<(message: string) => void>((value) => typeof value === "function", "must be a function")
    .optional(),
});

/** How one ingest of a knowledge base runs, and what it may cost. */
export interface IngestRunAndBudgetOptions extends IngestRunOptions, SpendingOptions, RereadOptions {}

export interface PlanOptions extends IngestRunOptions, Pick<SpendingOptions, "price">, RereadOptions {}

/** A document whose metadata has these fields. */
type DocumentWith<Fields extends object> = Document & {
  /** Facts that filters test, as the schema has them. Without it a document counts as one with none of the fields. */
  readonly metadata?: Fields;
};

type HitWith<Fields extends object> = Omit<Hit, "metadata"> & {
  /** Metadata, as the schema has it. */
  readonly metadata?: Fields;
};

/**
 * Documents that can be searched and asked: the ready-made assembly of the public stages. `Fields`: the metadata of the
 * documents, where it was opened with a schema of it.
 */
export interface KnowledgeBase<Fields extends object = Metadata> {
  /** The store behind it, for stages of your own. */
  readonly store: Store<string, Fields>;
  /**
   * Brings the store up to date with a source: new, changed and, for sources that know what is theirs, vanished
   * documents. Stopped anywhere, run it again: it goes on where it was. A budget (`maxTokens`, `maxCost`) ends it before
   * the request that would pass it, and the report says so in `stopped`.
   */
  readonly ingest: (
    source: Source<DocumentWith<Fields>> | DocumentSource,
    options?: IngestRunAndBudgetOptions,
  ) => Promise<IngestReport>;
  /** Tells what `ingest` would do and cost: reads and cuts the source, sends and changes nothing. */
  readonly plan: (source: Source<DocumentWith<Fields>> | DocumentSource, options?: PlanOptions) => Promise<IngestPlan>;
  /** Retrieval alone. */
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
  /** Streams an answer as it is made; the stream ends with exactly one `finish` or `error`. */
  readonly ask: Ask<Fields>;
  /**
   * Goes on with an answer that waits for approval, in any process that has the same store: runs the calls that are
   * approved, tells the model of those that are not, and streams what is new of the answer, which ends with exactly one
   * `finish` or `error`. A decision is kept before its call runs, so that no call runs twice: of two that decide, one gets an
   * `AnswerError` (`decided`). Should the answer fail or its process end, `resume(waiting, {})` goes on with what was kept.
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
   * source that still has them brings them back with the next ingest.
   */
  readonly deleteDocuments: Store["deleteDocuments"];
  /** Search and answers within the documents that the filter lets through: those of one tenant or one reader. */
  readonly scoped: (filter: Filter<Fields>) => ScopedKnowledgeBase<Fields>;
  /** Checks that the store is as it was written, and measures the recall of search; see `Store.verify`. */
  readonly verify: Store["verify"];
  /**
   * A conversation that is kept beside the documents: a new one, or the one of that id. It belongs to the scope that began
   * it: the same id within another scope is another conversation.
   */
  readonly conversation: (options: ConversationOptions) => Conversation<Fields>;
  /** The conversations of this scope, or of one owner within it, those with the last question first. */
  readonly conversations: (filter?: {
    /** Only those of this owner. Default: all. */
    readonly owner?: string;
  }) => Promise<readonly ConversationInfo[]>;
  /** See `Store.close`. */
  readonly close: (options?: CloseOptions) => Promise<void>;
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
>;
