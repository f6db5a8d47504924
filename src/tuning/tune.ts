import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { OptionsError } from "../core/errors.js";
import { given } from "../core/given.js";
import { listOption, observerOption, optionsOf, resolve } from "../core/options.js";
import { seededRandom } from "../core/random.js";
import type { PassageQuestion } from "../evaluate/evaluate-passages.js";
import type { MetricChange } from "../evaluate/compare.js";
import type { ModelFolder } from "../knowledge-base/connect-models.js";
import { chunkSettingsOf } from "../knowledge-base/open.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { retrievalSettings } from "../knowledge-base/question-options.js";
import type { RetrievalSettings } from "../knowledge-base/question-options.js";
import type { SearchMode } from "../stages/retrieval/search.js";
import { candidateSettings, type CandidateRanges, nameOf, type TunedSettings } from "./candidate-settings.js";
import { BudgetReached } from "./chat-budget.js";
import { MeasuredGains } from "./trials/measured-gains.js";
import { passageGain } from "./passage-gain.js";
import { ReusedEmbeddings } from "./trials/reused-embeddings.js";
import { ReusedRankings } from "./trials/reused-rankings.js";
import { successiveHalving, type TuningRound } from "./successive-halving.js";
import { TrialStores } from "./trials/trial-stores.js";
import { TuningBudget } from "./trials/tuning-budget.js";

export interface TuneOptions {
  /** Questions with their passages, as `makeQuestions` makes them; those without a passage are left out. At least 20. */
  readonly questions: readonly PassageQuestion[];
  /** How passages are found now. Default: as `ask` has it. */
  readonly present?: RetrievalSettings;
  /** Sizes of chunks to try, in tokens, 16 or more. Default: 192, 384 and 768, as far as the embedder takes them. */
  readonly chunkSizes?: readonly number[];
  /** Overlaps of chunks to try, in tokens. Default: that of the store. */
  readonly overlaps?: readonly number[];
  /**
   * Whether to try chunks with the title and headings that they stand under, without them, or both. Default: as in the store for
   * all sizes, and the other way for the store's own.
   */
  readonly contextLines?: readonly boolean[];
  /** Embedding models to try beside the present one, with the store's own chunks: ids at its service, or folders. Default: none. */
  readonly embeddingModels?: readonly (string | ModelFolder)[];
  /** Rerankers to try beside the present one, by id at its service. Default: none. */
  readonly rerankModels?: readonly string[];
  /** Modes to try. Default: all three. */
  readonly modes?: readonly SearchMode[];
  /** Numbers of candidates for the reranker to try. Default: 20, 40, 100. */
  readonly candidates?: readonly number[];
  /** Numbers of passages to try. Default: 6, or the present one. */
  readonly passages?: readonly number[];
  /** Whether to try without the reranker too. Default: true. */
  readonly withoutRerank?: boolean;
  /** Settings of the first round, 2 to 1,000. Default: 24. */
  readonly maxSettings?: number;
  /** Share of the questions that choose nothing and tell whether the choice is better, 0.2 to 0.8. Default: 0.5. */
  readonly heldBackShare?: number;
  /** Seed of what is drawn: the same seed tries the same. Default: 1. */
  readonly seed?: number;
  /**
   * Maximum tokens of embeddings and of reranking together, 1 or more, those of a run that this one continues included. The local service's
   * reranker counts none. Default: no limit.
   */
  readonly maxTokens?: number;
  /** Price of a million tokens of the embedding model, above 0, in your currency; of the dearest, if you name several. Default: unknown. */
  readonly price?: number;
  /** Price of a million tokens of the reranker, above 0. Default: `price`. */
  readonly rerankPrice?: number;
  /** Maximum cost of both, above 0, which needs `price`. Default: no limit. */
  readonly maxCost?: number;
  /** Maximum time, in minutes, above 0. Default: no limit. */
  readonly maxMinutes?: number;
  /**
   * Folder that keeps what was embedded and measured until the run is complete, so that one that was killed continues; it is
   * deleted then. Default: a temporary folder.
   */
  readonly workPath?: string;
  /** Called after each measurement of settings. */
  readonly onProgress?: (progress: TuneProgress) => void;
  /** Stops before the next question, and makes the call throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

export interface TuneProgress {
  /** Settings that are measured. */
  readonly settings: TunedSettings;
  /** Questions searched for so far, over all settings. */
  readonly searches: number;
  /** Tokens of embeddings and of reranking so far. */
  readonly tokens: number;
}

const counts = listOption(z.array(z.int().min(1).max(1000)).min(1));

const tuneOptions = optionsOf<TuneOptions>()({
  questions: listOption(
    z.array(z.custom<PassageQuestion>((value) => Array.isArray((value as PassageQuestion).passages))),
  ),
  present: retrievalSettings.default({}),
  chunkSizes: listOption(z.array(z.int().min(16)).min(1)).optional(),
  overlaps: listOption(z.array(z.int().min(0)).min(1)).optional(),
  contextLines: listOption(z.array(z.boolean()).min(1)).optional(),
  embeddingModels: listOption(
    z.array(z.union([z.string().min(1), z.strictObject({ folder: z.string().min(1) })])),
  ).default([]),
  rerankModels: listOption(z.array(z.string().min(1))).default([]),
  modes: listOption(z.array(z.enum(["hybrid", "dense", "lexical"])).min(1)).default(["hybrid", "dense", "lexical"]),
  candidates: counts.default([20, 40, 100]),
  passages: counts.optional(),
  withoutRerank: z.boolean().default(true),
  maxSettings: z.int().min(2).max(1000).default(24),
  heldBackShare: z.number().min(0.2).max(0.8).default(0.5),
  seed: z.number().default(1),
  maxTokens: z.int().min(1).optional(),
  price: z.number().positive().optional(),
  rerankPrice: z.number().positive().optional(),
  maxCost: z.number().positive().optional(),
  maxMinutes: z.number().positive().optional(),
  workPath: z.string().min(1).optional(),
  onProgress: observerOption<NonNullable<TuneOptions["onProgress"]>>("onProgress").optional(),
  signal: abortSignal.optional(),
});

/** Settings with their mean gain over the questions that they were last measured on. */
export interface TriedSettings {
  /** How documents were cut and passages found. */
  readonly settings: TunedSettings;
  /** Questions of the last round that they were in. */
  readonly questions: number;
  /** Mean over these: 0 to 1, how early the passages that answer are met. */
  readonly gain: number;
}

export interface Tuning {
  /** Settings in use when it began. */
  readonly present: TunedSettings;
  /** The best settings found; those in use, where nothing was found better. */
  readonly best: TunedSettings;
  /** Whether `best` is better than `present` on the questions held back, by more than chance (p below 0.05). */
  readonly clearlyBetter: boolean;
  /** Both on the questions held back; `undefined` where the best are those in use, or the budget ended before. */
  readonly change: MetricChange | undefined;
  /** Means of both on the questions held back. */
  readonly heldBack:
    | {
        /** Mean gain of the best settings. */
        readonly winner: number;
        /** Mean gain of those in use. */
        readonly present: number;
      }
    | undefined;
  /** Questions that chose, and that were held back. */
  readonly questions: {
    /** Number of questions that chose. */
    readonly choosing: number;
    /** Number of questions held back. */
    readonly heldBack: number;
  };
  /** All settings that were tried, those that came furthest first. */
  readonly tried: readonly TriedSettings[];
  /** Tokens of embeddings and of reranking, those of a run that this one continued included. */
  readonly tokens: number;
  /** Their cost; `undefined` without a price. */
  readonly cost: number | undefined;
  /** Why it ended before its time; `undefined` where it did not. */
  readonly stopped: string | undefined;
}

const minQuestions = 20;
const defaultChunkTokens = 384;
const defaultChunkSizes = [192, 384, 768];
const defaultPassages = 6;
const defaultCandidates = 40;

/**
 * Tries settings of search on questions whose passages are known: all of them on few questions, the better half on twice as many, and
 * so on. The library's defaults are always among them, and win unless others are clearly better. Questions held back say whether what won is better than what is in use. Nothing is changed: `citewell tune` writes
 * the settings, and `openKnowledgeBase` takes them as `chunk` and `retrieval`.
 *
 * @throws OptionsError for fewer than 20 questions with passages, and for a knowledge base that is a part of another.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { makeQuestions, tune } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { questions } = await makeQuestions(kb, { count: 200 });
 * const { best, clearlyBetter } = await tune(kb, { questions, maxMinutes: 10 });
 * if (clearlyBetter) console.log(best);
 * await kb.close();
 * ```
 */
export async function tune(kb: KnowledgeBase, options: TuneOptions): Promise<Tuning> {
  const settings = resolve("tune", tuneOptions, options);
  const { signal, seed, price, rerankPrice, maxTokens, maxCost, workPath, onProgress } = settings;
  const questions = settings.questions.filter(({ passages }) => passages.length > 0);
  if (questions.length < minQuestions) {
    const problem = `${questions.length} questions have a passage, and at least ${minQuestions} are needed to tell settings apart`;
    throw new OptionsError("options", `tune: ${problem}`, { call: "tune" });
  }
  const startedAt = performance.now();
  const budget = new TuningBudget({ maxTokens, maxCost, price, rerankPrice });
  const folder = workPath ?? (await mkdtemp(join(tmpdir(), "citewell-tune-")));
  await mkdir(folder, { recursive: true });
  const random = seededRandom(seed);
  const present = presentSettings(kb, settings.present);
  const ranges = rangesOf(kb, settings, present);
  const defaults = defaultSettings(kb, settings, ranges);
  const tried = candidateSettings(present, defaults, ranges, settings.maxSettings, random);
  const isTried = defaults !== undefined && nameOf(defaults) !== nameOf(present);
  const embeddings = await ReusedEmbeddings.open(kb.store, join(folder, "embedded.jsonl"), budget);
  const rankings = await ReusedRankings.open(join(folder, "reranked.jsonl"), budget, kb.embedder.tokens);
  const stores = new TrialStores({ kb, present, folder: join(folder, "stores"), embeddings, rankings, signal });
  const journal = await MeasuredGains.open(join(folder, "measured.jsonl"), await contentName(kb, questions));
  let searches = 0;
  let isComplete = workPath === undefined;

  const measure = async (index: number, asked: readonly number[]): Promise<readonly number[]> => {
    const one = tried[index]!;
    const name = nameOf(one);
    const gains: number[] = [];
    for (const number of asked) {
      const question = questions[number]!;
      let gain = journal.gain(name, question.id);
      if (gain === undefined) {
        signal?.throwIfAborted();
        if (performance.now() - startedAt > (settings.maxMinutes ?? Infinity) * 60_000) {
          throw new BudgetReached(`maxMinutes is ${settings.maxMinutes}, and so many are over`);
        }
        const trial = await stores.of(one);
        gain = passageGain(question, await hitsOf(trial, question.text, one.retrieval, signal));
        rankings.throwIfFailed();
        searches++;
        await journal.keep(name, question.id, gain);
      }
      gains.push(gain);
    }
    onProgress?.({ settings: one, searches, tokens: budget.tokens });
    return gains;
  };

  try {
    const order = shuffled(questions.length, random);
    const heldBack = order.slice(0, Math.round(settings.heldBackShare * questions.length));
    const choosing = order.slice(heldBack.length);
    const choice = await successiveHalving(tried.length, choosing, heldBack, measure, isTried ? 1 : undefined);
    isComplete ||= choice.stopped === undefined;
    const isKnown = choice.change !== undefined || choice.winner === 0;
    return {
      present,
      best: isKnown ? tried[choice.winner]! : present,
      clearlyBetter: choice.change?.verdict === "better",
      change: choice.change,
      heldBack: choice.heldBack,
      questions: { choosing: choosing.length, heldBack: heldBack.length },
      tried: lastMeans(choice.rounds, tried),
      tokens: budget.tokens,
      cost: budget.cost,
      stopped: choice.stopped,
    };
  } finally {
    await stores.close(isComplete);
    if (isComplete) await rm(folder, { recursive: true, force: true });
  }
}

async function hitsOf(kb: KnowledgeBase, text: string, how: RetrievalSettings, signal: AbortSignal | undefined) {
  const { mode = "hybrid", fusion, count: candidates = 40, topN = 6, rerank } = how;
  const size = rerank ? { count: Math.max(candidates, topN), topN } : { count: Math.min(topN, candidates) };
  const more = { ...(fusion && { fusion }), ...(signal && { signal }) };
  const { hits } = await kb.search(text, { mode, ...size, ...more, syntax: false });
  return hits;
}

function presentSettings(kb: KnowledgeBase, retrieval: RetrievalSettings): TunedSettings {
  const chunk = chunkSettingsOf(kb);
  const maxTokens = chunk.maxTokens ?? Math.min(defaultChunkTokens, kb.embedder.maxInputTokens);
  const rerank = retrieval.rerank !== false && kb.reranker !== undefined;
  const usual = { mode: "hybrid", topN: 6, ...retrieval } as const;
  // Without the reranker, no more are found than are kept.
  return {
    chunk: { maxTokens, ...given({ overlapTokens: chunk.overlapTokens, contextLine: chunk.contextLine }) },
    retrieval: rerank ? { count: defaultCandidates, ...usual, rerank } : { ...usual, rerank },
  };
}

function rangesOf(
  kb: KnowledgeBase,
  settings: z.output<typeof tuneOptions>,
  { chunk, retrieval }: TunedSettings,
): CandidateRanges {
  const { maxInputTokens } = kb.embedder;
  const asStored = chunk.contextLine ?? true;
  const { chunkSizes, overlaps, contextLines, embeddingModels, rerankModels, candidates, passages } = settings;
  const sizes = chunkSizes ?? defaultChunkSizes.filter((size) => size <= maxInputTokens);
  return {
    chunkSizes: sizes,
    overlaps: overlaps ?? [chunk.overlapTokens],
    // The way of the store goes by its name there, so that its settings are not tried twice.
    contextLines: (contextLines ?? [asStored, !asStored]).map((way) => (way === asStored ? chunk.contextLine : way)),
    embeddingModels,
    rerankModels: [...(kb.reranker ? [undefined] : []), ...rerankModels],
    modes: settings.modes,
    candidates: kb.reranker || rerankModels.length > 0 ? candidates : [],
    passages: passages ?? [...new Set([retrieval.topN!, defaultPassages])],
    withoutRerank: settings.withoutRerank,
  };
}

/** The library's own settings, as far as they are in the ranges: they were chosen on more collections than the questions are about. */
function defaultSettings(
  kb: KnowledgeBase,
  { overlaps }: z.output<typeof tuneOptions>,
  { chunkSizes, contextLines, modes, candidates, passages }: CandidateRanges,
): TunedSettings | undefined {
  const maxTokens = Math.min(defaultChunkTokens, kb.embedder.maxInputTokens);
  const rerank = kb.reranker !== undefined;
  const isInRanges =
    chunkSizes.includes(maxTokens) &&
    modes.includes("hybrid") &&
    passages.includes(defaultPassages) &&
    (!rerank || candidates.includes(defaultCandidates));
  if (!isInRanges) return undefined;
  return {
    chunk: { maxTokens, ...given({ overlapTokens: overlaps?.[0], contextLine: contextLines[0] }) },
    retrieval: {
      mode: "hybrid",
      ...(rerank && { count: defaultCandidates }),
      topN: defaultPassages,
      rerank,
    },
  };
}

/** Names the documents as they are stored, the vectors and the questions. */
async function contentName(kb: KnowledgeBase, questions: readonly PassageQuestion[]): Promise<string> {
  const hash = createHash("sha256").update(kb.embedder.space);
  for (const { uri, fingerprint } of await kb.store.documents()) hash.update(`\n${uri} ${fingerprint}`);
  hash.update(JSON.stringify(questions));
  return hash.digest("hex");
}

function lastMeans(rounds: readonly TuningRound[], tried: readonly TunedSettings[]): readonly TriedSettings[] {
  const last = new Map<number, TriedSettings>();
  for (const { questions, means } of rounds) {
    for (const { settings, mean } of means) last.set(settings, { settings: tried[settings]!, questions, gain: mean });
  }
  return [...last.values()].toSorted((a, b) => b.questions - a.questions || b.gain - a.gain);
}

function shuffled(count: number, random: () => number): readonly number[] {
  return Array.from({ length: count }, (_, index) => ({ index, draw: random() }))
    .toSorted((a, b) => a.draw - b.draw)
    .map(({ index }) => index);
}
