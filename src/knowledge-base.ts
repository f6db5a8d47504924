import { z } from "zod";
import { conversation, type Conversation } from "./conversation.js";
import type { DocumentSource } from "./load/source.js";
import { bothFilters, type Filter } from "./filter.js";
import { type ChatModelOptions, chatModel } from "./models/chat-model.js";
import { embedder } from "./models/embedder.js";
import { reranker } from "./models/reranker.js";
import { resolve } from "./options.js";
import { Pipeline, type RunOptions } from "./pipeline.js";
import type { Searchable, Store } from "./ports.js";
import type { AnswerOptions } from "./stages/answer-options.js";
import { answer } from "./stages/answer.js";
import { chunk, type ChunkOptions } from "./stages/chunk.js";
import { countBatches } from "./stages/count-batches.js";
import { condense } from "./stages/condense.js";
import { dryStore } from "./stages/dry-store.js";
import { diversify } from "./stages/diversify.js";
import { embedChunks } from "./stages/embed-chunks.js";
import { embedQuestion } from "./stages/embed-question.js";
import { fitMetadata } from "./stages/fit-metadata.js";
import { hyde } from "./stages/hyde.js";
import type { IngestReport } from "./stages/ingest-ledger.js";
import { multiQuery } from "./stages/multi-query.js";
import { parseSyntax } from "./stages/parse-syntax.js";
import { rerank } from "./stages/rerank.js";
import { search, type SearchMode } from "./stages/search.js";
import { runIngest, type RunIngestOptions } from "./stages/run-ingest.js";
import { skipKnown } from "./stages/skip-known.js";
import { spending, type SpendingOptions } from "./stages/spending.js";
import { storeBlank } from "./stages/store-blank.js";
import { store } from "./stages/store.js";
import { widen } from "./stages/widen.js";
import { openConversations, type Conversations } from "./store/conversations.js";
import { openStore } from "./store/open-store.js";
import { collect, type Source } from "./stream.js";
import { askableTrace } from "./text/why.js";
import type { Transport } from "./transport/transport.js";
import type { AnswerEvent, Document, Question, Retrieved, Trace } from "./types.js";
import { connectUpstream } from "./upstream.js";

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
  /** How documents are cut; see `chunk`. */
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
  /** Tokens that would be sent, as they are counted here. */
  readonly tokens: number;
  readonly requests: number;
  /** Chunks whose vectors are there already, or are those of an equal text. */
  readonly reused: number;
  /** Of the tokens, in the currency of `price`; only where a price was given. */
  readonly cost?: number;
  readonly failures: IngestReport["failures"];
  readonly skipped: IngestReport["skipped"];
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
  /** Whether `"exact phrase"`, `-word` and `-"phrase"` in the question are signs; see `parseSyntax`. Default: true. */
  readonly syntax?: boolean;
  /** Passages that search hands to the reranker. Default: 40. */
  readonly count?: number;
  /** Passages to answer from. Default: 6. */
  readonly topN?: number;
  /** Most tokens that a passage is widened to before it is answered from; see `widen`. Default: none is widened. */
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
  readonly close: () => Promise<void>;
}

/** What is seen of a knowledge base within a scope. */
export type ScopedKnowledgeBase = Pick<KnowledgeBase, "search" | "ask" | "scoped">;

// Little enough to lose nothing clear against words alone on SciFact's 809 training queries (nDCG@10 0.701): 0.15 comes to
// 0.699 (p 0.2), 0.2 to 0.698 (p 0.06). Cranfield and SQuAD gain by it.
const lexicalEmbeddingWeights = { dense: 0.15, lexical: 1 } as const;

/**
 * Opens or creates a store and puts the public stages around it. With no `transport`, everything runs offline on the
 * local service.
 *
 * @throws OptionsError for bad options, StoreError when the store at `path` cannot be used as it is asked for.
 */
export async function openKnowledgeBase(given: KnowledgeBaseOptions = {}): Promise<KnowledgeBase> {
  const { path, create, onWarning, concurrency, ...options } = resolve(
    "openKnowledgeBase",
    KnowledgeBaseOptions,
    given,
  );
  const upstream = await connectUpstream(options.transport, options.models);
  const { transport, rerankModel } = upstream;
  try {
    const model = upstream.model("embedding");
    const kb = await openStore(path, embedder(transport, { model }), {
      create,
      requireScope: options.requireScope,
      onWarning,
      ...(options.metadata && { metadata: options.metadata }),
    });
    const embed = embedder(transport, { model, tokenMargin: kb.tokenMargin ?? 1 });

    const chunking = (into: Parameters<typeof storeBlank>[0]) =>
      Pipeline.from<Document>()
        .pipe(fitMetadata(kb))
        .pipe(storeBlank(into))
        .pipe(chunk({ ...options.chunk, for: embed }))
        .pipe(skipKnown(kb));

    const weights = options.weights ?? (upstream.lexicalEmbedding ? lexicalEmbeddingWeights : undefined);
    const retrieval = (
      within: Searchable,
      mode: SearchMode,
      count: number,
      fusion: Fusion = {},
    ): Pipeline<Question, Retrieved> =>
      mode === "lexical"
        ? Pipeline.from<Question>().pipe(search(within, { mode, count }))
        : Pipeline.from<Question>()
            .pipe(embedQuestion(embed))
            .pipe(search(within, { mode, count, weights, ...fusion }));

    // Made when it is needed: a service of the caller's need not have a chat model to be searched with.
    const chat = () => chatModel(transport, { ...options.chat, model: upstream.model("chat") });

    const rewriting = (before: Pipeline<Question, Question>, { multiQuery: count, hyde: guess }: RewriteOptions) => {
      const worded = count === undefined ? before : before.pipe(multiQuery(chat(), { count }));
      return guess ? worded.pipe(hyde(chat())) : worded;
    };

    const reranking = (topN: number) => rerank(reranker(transport, { model: upstream.model("rerank") }), { topN });

    async function* answering(
      { within, scope }: { readonly within: Searchable; readonly scope: Filter | undefined },
      question: string | Question,
      {
        count = 40,
        topN = 6,
        widenTokens,
        condense: condenses = true,
        multiQuery: wordings,
        hyde: guess,
        answer: answerOptions = {},
        filter: alsoGiven,
        ...run
      }: AskOptions = {},
    ): AsyncGenerator<AnswerEvent> {
      const alone = condenses ? Pipeline.from<Question>().pipe(condense(chat())) : Pipeline.from<Question>();
      const worded = rewriting(alone, { multiQuery: wordings, hyde: guess });
      const found = worded.pipe(retrieval(within, "hybrid", rerankModel ? count : topN));
      const ranked = rerankModel ? found.pipe(reranking(topN)) : found;
      const widened = widenTokens === undefined ? ranked : ranked.pipe(widen(within, { maxTokens: widenTokens }));
      const asking = widened.pipe(answer(chat(), answerOptions));
      const asked = typeof question === "string" ? { question } : question;
      // The scope is named again for tools of the answer, which search by themselves.
      const filter = bothFilters(scope, bothFilters(asked.filter, alsoGiven));
      yield* asking.stream([{ ...asked, ...(filter && { filter }) }], run);
    }

    const searching = (within: Searchable, scope?: Filter): ScopedKnowledgeBase => ({
      async search(
        question,
        {
          mode = "hybrid",
          limit = 10,
          fusion,
          rerank: candidates,
          syntax = true,
          diversity,
          widenTokens,
          multiQuery: wordings,
          hyde: guess,
          filter,
          ...run
        } = {},
      ) {
        // To choose from, where what repeats is to make room.
        const ranked = diversity === undefined ? limit : Math.min(1000, 4 * limit);
        const found = retrieval(within, mode, candidates ?? ranked, fusion);
        const best = candidates === undefined ? found : found.pipe(reranking(ranked));
        const varied = diversity === undefined ? best : best.pipe(diversify(kb, { lambda: diversity, count: limit }));
        const widened = widenTokens === undefined ? varied : varied.pipe(widen(within, { maxTokens: widenTokens }));
        const read = syntax ? Pipeline.from<Question>().pipe(parseSyntax()) : Pipeline.from<Question>();
        const asking = rewriting(read, { multiQuery: wordings, hyde: guess }).pipe(widened);
        const [retrieved] = await collect(asking.stream([{ question, ...(filter && { filter }) }], run));
        return { ...retrieved!, trace: askableTrace(retrieved!.trace) };
      },

      ask: ((question: string | Question, how?: AskOptions) => answering({ within, scope }, question, how)) as Ask,

      scoped: (filter) => searching(within.scoped(filter), bothFilters(scope, filter)),
    });

    const wholeStore = searching(kb);
    let conversations: Conversations | undefined;

    return {
      store: kb,

      async ingest(source, { price, maxTokens, maxCost, ...run } = {}) {
        const budget = spending("ingest", { price, maxTokens, maxCost });
        const flow = chunking(kb)
          .pipe(embedChunks(embed, { concurrency, maxTokens: budget.maxTokens }))
          .pipe(store(kb));
        const report = await runIngest(source, flow, kb, run);
        const { tokenMargin = 1 } = embed;
        if (tokenMargin > (kb.tokenMargin ?? 1)) await kb.write({ tokenMargin });
        return { ...report, ...budget.costOf(report.tokens) };
      },

      async plan(source, { price, ...run } = {}) {
        const { costOf } = spending("plan", { price });
        const dry = dryStore(kb);
        const flow = chunking(dry).pipe(countBatches(embed, dry));
        const { documents, chunks, tokens, requests, failures, skipped } = await runIngest(source, flow, dry, run);
        return {
          documents: documents.added + documents.updated + documents.unchanged,
          outcomes: documents,
          chunks: chunks.total,
          tokens,
          requests,
          reused: chunks.reused,
          ...costOf(tokens),
          failures,
          skipped,
        };
      },

      verify: (checks) => kb.verify(checks),
      ...wholeStore,

      conversation({ id }) {
        conversations ??= openConversations(path);
        return conversation(id, conversations, wholeStore.ask);
      },

      async close() {
        conversations?.close();
        await kb.close();
        await upstream.close();
      },
    };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}
