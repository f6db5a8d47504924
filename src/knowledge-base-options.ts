import { z } from "zod";
import type { Conversation } from "./conversation.js";
import type { Filter } from "./filter.js";
import type { DocumentSource } from "./load/source.js";
import type { ChatModelOptions } from "./models/chat-model.js";
import type { RunOptions } from "./pipeline.js";
import type { CloseOptions, Store } from "./ports.js";
import type { AnswerOptions } from "./stages/answer-options.js";
import type { ChunkOptions } from "./stages/chunk.js";
import type { IngestReport } from "./stages/ingest-ledger.js";
import type { RunIngestOptions } from "./stages/run-ingest.js";
import type { SearchMode } from "./stages/search.js";
import type { SpendingOptions } from "./stages/spending.js";
import type { Source } from "./stream.js";
import type { Transport } from "./transport/transport.js";
import type { AnswerEvent, Document, Question, Retrieved, Trace } from "./types.js";

export const KnowledgeBaseOptions = z.strictObject({
  /** Folder of the store. Default: `./.citewell`. */
  path: z.string().min(1).default("./.citewell"),
  /** False: a store that is not there is an error instead of made. Default: true. */
  create: z.boolean().default(true),
  /** Where requests go. Default: the local service, started in this process, with no key and no network. */
  transport: z.custom<Transport>().optional(),
  /** Models by id. Default: the local service's; a transport of your own needs `embedding` and, to ask, `chat`. */
  models: z
    .strictObject({
      embedding: z.string().min(1).optional(),
      rerank: z.string().min(1).optional(),
      chat: z.string().min(1).optional(),
    })
    .default({}),
  /** How the chat model is asked: thinking, length, the form of tool results; see `chatModel`. */
  chat: z.custom<Omit<ChatModelOptions, "model">>().default({}),
  /**
   * How documents are cut; see `chunk`. What is not given is as it was when the store was last filled, else as `chunk` has
   * it.
   */
  chunk: z.custom<Omit<ChunkOptions, "for">>().default({}),
  /**
   * What vectors and words are each worth in a hybrid search, 0 or more. Default: 1 each; with an embedding model of the
   * local service's 0.15 for `dense`, because its vectors are made of words too and are no second opinion.
   */
  weights: z.strictObject({ dense: z.number().min(0), lexical: z.number().min(0) }).optional(),
  /**
   * What metadata every document has: those that do not fit have failed, and filters know their fields. Default: any.
   */
  metadata: z.instanceof(z.ZodObject).optional(),
  /** True: `search` and `ask` refuse to work but through `scoped(filter)`. Default: false. */
  requireScope: z.boolean().default(false),
  /** Embedding requests in flight at once, 1 to 256. Default: 8. */
  concurrency: z.int().min(1).max(256).default(8),
  /** Is told, in one line each, what works with less than it could. */
  onWarning: z.custom<(message: string) => void>().optional(),
});
export type KnowledgeBaseOptions = z.input<typeof KnowledgeBaseOptions>;

export interface IngestOptions extends RunIngestOptions, SpendingOptions {}

export interface PlanOptions extends RunIngestOptions, Pick<SpendingOptions, "price"> {}

/** What an ingest of the same source would come to. */
export interface IngestPlan {
  /** Documents that the store would hold of this source. */
  readonly documents: number;
  /** What would become of each document. */
  readonly outcomes: IngestReport["documents"];
  /** Chunks of those documents. */
  readonly chunks: number;
  /**
   * Tokens that would be sent, as they are counted here. Of `semantic` chunks, which only an embedder finds, this counts
   * the sentences too, and takes chunks to be as few as they can be: there may be some more, and requests with them.
   */
  readonly tokens: number;
  readonly requests: number;
  /** Chunks whose vectors are there already, or are those of an equal text. */
  readonly reused: number;
  /** Of the tokens, in the currency of `price`; only where a price was given. */
  readonly cost?: number;
  readonly failures: IngestReport["failures"];
  readonly skipped: IngestReport["skipped"];
  readonly warnings: IngestReport["warnings"];
}

export interface Fusion {
  /** Default: 10. */
  readonly k?: number;
  /** Default: those of the knowledge base. */
  readonly weights?: { readonly dense: number; readonly lexical: number };
}

export interface SearchPassagesOptions extends RunOptions, RewriteOptions {
  /** Default: `hybrid`. */
  readonly mode?: SearchMode;
  /** Most hits. Default: 10. */
  readonly limit?: number;
  /** How a hybrid search fuses its ranks, in place of what the knowledge base was opened with; see `search`. */
  readonly fusion?: Fusion;
  /** Whether `"exact phrase"`, `-word` and `-"phrase"` in the question are signs; see `parseSyntax`. Default: true. */
  readonly syntax?: boolean;
  /** Only passages of documents that it lets through. Default: of all. */
  readonly filter?: Filter;
  /** Passages that search hands to the reranker, 1 to 1000; of them `limit` stay. Default: none, no reranking. */
  readonly rerank?: number;
  /** 0 to 1: below 1, hits that repeat what stands above them move down; see `diversify`. Default: 1, as they were ranked. */
  readonly diversity?: number;
  /** Most tokens that a hit is widened to, around what was found; see `widen`. Default: none is widened. */
  readonly widenTokens?: number;
}

export interface AskOptions extends RunOptions, RewriteOptions {
  /** Whether a follow-up is put as a question of its own before it is searched for; see `condense`. Default: true. */
  readonly condense?: boolean;
  /** Only passages of documents that it lets through; a filter of the question has to hold too. Default: of all. */
  readonly filter?: Filter;
  /** Passages that search hands to the reranker. Default: 40. */
  readonly count?: number;
  /** Passages to answer from. Default: 6. */
  readonly topN?: number;
  /**
   * Most tokens that each passage is widened to before it is answered from; see `widen`. Default: passages are widened
   * while there is room, as far as `answer.widenTotalTokens` allows.
   */
  readonly widenTokens?: number;
  /** How the answer is made; see `answer`. */
  readonly answer?: AnswerOptions;
}

/** How a question is put to a search: what a chat model is asked for first. */
export interface RewriteOptions {
  /** Other wordings that are searched for beside the question, 1 to 8; see `multiQuery`. Default: none. */
  readonly multiQuery?: number;
  /** Whether passages like a made-up answer are looked for, too; see `hyde`. Default: false. */
  readonly hyde?: boolean;
}

/** Asks a question; with `answer: { schema }` the answer's `value` is what that schema returns. */
export interface Ask {
  <Schema extends z.ZodType>(
    question: string | Question,
    options: AskOptions & { readonly answer: { readonly schema: Schema } },
  ): AsyncIterable<AnswerEvent<z.output<Schema>>>;
  (question: string | Question, options?: AskOptions): AsyncIterable<AnswerEvent>;
}

/** Documents that can be searched and asked: the ready-made assembly of the public stages. */
export interface KnowledgeBase {
  readonly store: Store;
  /**
   * Brings the store up to date with a source: new, changed and, for sources that know what is theirs, vanished
   * documents. Stopped anywhere, run it again: it goes on where it was. A budget (`maxTokens`, `maxCost`) ends it before
   * the request that would pass it, and the report says so in `stopped`.
   */
  readonly ingest: (source: Source<Document> | DocumentSource, options?: IngestOptions) => Promise<IngestReport>;
  /** What `ingest` would do and cost: reads and cuts the source, sends and changes nothing. */
  readonly plan: (source: Source<Document> | DocumentSource, options?: PlanOptions) => Promise<IngestPlan>;
  /** Retrieval alone. */
  readonly search: (
    question: string,
    options?: SearchPassagesOptions,
  ) => Promise<Retrieved & { readonly trace: Trace }>;
  /** An answer as it is made: ends with exactly one `finish` or `error`. */
  readonly ask: Ask;
  /** Search and answers within the documents that the filter lets through: those of one tenant or one reader. */
  readonly scoped: (filter: Filter) => ScopedKnowledgeBase;
  /** Whether everything is as it was written, and how near search comes to the exact answer; see `Store.verify`. */
  readonly verify: Store["verify"];
  /** A conversation that is kept beside the documents, new or gone on with. */
  readonly conversation: (options: { readonly id: string }) => Conversation<AskOptions>;
  /** See `Store.close`. */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/** What is seen of a knowledge base within a scope. */
export type ScopedKnowledgeBase = Pick<KnowledgeBase, "search" | "ask" | "scoped">;
