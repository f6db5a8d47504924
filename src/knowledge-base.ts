import { conversation } from "./conversation.js";
import { bothFilters, type Filter } from "./filter.js";
import {
  type Ask,
  type AskOptions,
  type Fusion,
  type KnowledgeBase,
  KnowledgeBaseOptions,
  type RewriteOptions,
  type ScopedKnowledgeBase,
} from "./knowledge-base-options.js";
import { chatModel } from "./models/chat-model.js";
import { embedder } from "./models/embedder.js";
import { reranker } from "./models/reranker.js";
import { resolve } from "./options.js";
import { Pipeline } from "./pipeline.js";
import type { Embedder, Searchable } from "./ports.js";
import { answer } from "./stages/answer.js";
import { chunk } from "./stages/chunk.js";
import { countBatches } from "./stages/count-batches.js";
import { claimingStore } from "./stages/claim-store.js";
import { condense } from "./stages/condense.js";
import { dryStore } from "./stages/dry-store.js";
import { diversify } from "./stages/diversify.js";
import { embedChunks } from "./stages/embed-chunks.js";
import { dryEmbedder } from "./stages/embed-sentences.js";
import { embedQuestion } from "./stages/embed-question.js";
import { fitMetadata } from "./stages/fit-metadata.js";
import { hyde } from "./stages/hyde.js";
import { keepLanded } from "./stages/keep-landed.js";
import {
  type ChunkSettings,
  chosenChunkSettings,
  costlyCut,
  keepingSettings,
  keptSettings,
} from "./stages/kept-settings.js";
import { multiQuery } from "./stages/multi-query.js";
import { parseSyntax } from "./stages/parse-syntax.js";
import { rerank } from "./stages/rerank.js";
import { search, type SearchMode } from "./stages/search.js";
import { runIngest } from "./stages/run-ingest.js";
import { skipKnown } from "./stages/skip-known.js";
import { skipUnchanged } from "./stages/skip-unchanged.js";
import { spending } from "./stages/spending.js";
import { storeBlank } from "./stages/store-blank.js";
import { store } from "./stages/store.js";
import { TokenBudget } from "./stages/token-budget.js";
import { widen } from "./stages/widen.js";
import { openConversations, type Conversations } from "./store/conversations.js";
import { openStore } from "./store/open-store.js";
import { collect } from "./stream.js";
import { inSpan, streamInSpan } from "./telemetry.js";
import { askableTrace } from "./text/why.js";
import type { AnswerEvent, Document, DocumentChunk, Question, Retrieved } from "./types.js";
import { connectUpstream } from "./upstream.js";

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

    const chunking = (
      into: Parameters<typeof storeBlank>[0],
      settings: ChunkSettings,
      comparing: Embedder = options.chunk.embedder ?? embed,
    ) =>
      Pipeline.from<Document>()
        .pipe(fitMetadata(kb))
        .pipe(storeBlank(into))
        .pipe(skipUnchanged(kb, costlyCut(settings)))
        .pipe(chunk({ ...settings, for: embed, embedder: comparing }))
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
      const around = widenTokens === undefined ? { documents: within } : {};
      const asking = widened.pipe(answer(chat(), { ...around, ...answerOptions }));
      const asked = typeof question === "string" ? { question } : question;
      // The scope is named again for tools of the answer, which search by themselves.
      const filter = bothFilters(scope, bothFilters(asked.filter, alsoGiven));
      yield* streamInSpan("ask", () => asking.stream([{ ...asked, ...(filter && { filter }) }], run), {
        signal: run.signal,
        failureOf: (event) => (event.type === "error" ? event.error : undefined),
      });
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
        const { maxTokens: mostTokens, costOf } = spending("ingest", { price, maxTokens, maxCost });
        const kept = keptSettings(kb);
        const settings = chosenChunkSettings(options.chunk, kept, embed.maxInputTokens);
        const claiming = claimingStore(kb);
        const landed = keepLanded(claiming(embed), keepingSettings(kb, settings));
        const into = landed.store;
        let { batchTexts } = kept;
        const embedding = embedChunks<string, DocumentChunk>(landed.embedder, {
          concurrency,
          maxTokens: mostTokens,
          firstBatchTexts: batchTexts,
          onBatchTexts: (count) => (batchTexts = count < embed.maxBatchTexts ? count : undefined),
        });
        const comparing = claiming(options.chunk.embedder ?? embed);
        const flow = chunking(into, settings, comparing).pipe(embedding).pipe(store(into));
        const budget = mostTokens === undefined ? undefined : new TokenBudget(mostTokens);
        // Also of a run that was stopped: the next one is to begin with what this one learned.
        const keepLearned = async () => {
          const { tokenMargin = 1 } = embed;
          const learned = {
            ...(tokenMargin > (kb.tokenMargin ?? 1) && { tokenMargin }),
            ...(batchTexts !== kept.batchTexts && { settings: { batchTexts: batchTexts ?? null } }),
          };
          if (Object.keys(learned).length > 0) await kb.write(learned);
        };
        const work = () => landed.during(() => runIngest(source, flow, kb, { ...run, budget }));
        const report = await inSpan("ingest", work, run.signal).catch(async (error: unknown) => {
          // What ended the run is what matters, also where it keeps this from being written.
          await keepLearned().catch(() => {});
          throw error;
        });
        await keepLearned();
        return { ...report, ...costOf(report.tokens) };
      },

      async plan(source, { price, ...run } = {}) {
        const { costOf } = spending("plan", { price });
        const dry = dryStore(kb);
        const settings = chosenChunkSettings(options.chunk, keptSettings(kb), embed.maxInputTokens);
        const comparing = dryEmbedder(options.chunk.embedder ?? embed);
        const flow = chunking(dry, settings, comparing).pipe(countBatches(embed, dry));
        const work = () => runIngest(source, flow, dry, run);
        const { documents, chunks, tokens, requests, failures, skipped, warnings } = await inSpan(
          "plan",
          work,
          run.signal,
        );
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
          warnings,
        };
      },

      verify: (checks) => kb.verify(checks),
      ...wholeStore,

      conversation({ id }) {
        conversations ??= openConversations(path);
        return conversation(id, conversations, wholeStore.ask);
      },

      async close(closing) {
        try {
          conversations?.close();
          await kb.close(closing);
        } finally {
          await upstream.close();
        }
      },
    };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}
