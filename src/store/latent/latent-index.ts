import { z } from "zod";
import { asError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import type { StoreProblem } from "../../core/ports.js";
import { queryTerms, terms } from "../../text/words/terms.js";
import { FlatIndex } from "../dense/dense.js";
import type { AllowedChunks } from "../derived/allowed-chunks.js";
import type { Changes, Position, TextRow } from "../derived/changes.js";
import { IndexUpdater } from "../derived/index-updater.js";
import { indexProblem, isCurrent, loadIndex, savedFacts, saveIndex } from "../derived/saved-index.js";
import { inSlices, TaskQueue, TimeSlice } from "../derived/scheduling.js";
import type { Ranking } from "../derived/top-k.js";
import { analyzerFingerprint } from "../lexical/lexical-index.js";
import { LatentFileFacts, latentFileFacts, readLatentFile, writeLatentFile } from "./latent-file.js";
import { answeredShare, askedEvery, type SampledText } from "./made-questions.js";
import { type LatentModel, latentVector, type TermCounts, trainLatentModel } from "./latent-model.js";

/** Chunks that a model is trained on, evenly spread: a few seconds, and on training questions as good as more. */
const sampleChunks = 1200;
/** Chunks that a model is made for on demand: of fewer, every direction is a chunk. */
const minChunks = 20;
/** Chunks from which `auto` makes one: with four for each direction. On parts of collections it gained less below. */
const minChunksUnasked = 512;
/**
 * Share of the words' success at questions made from the store below which `auto` leaves a model unused: texts of words at random
 * are below it. Real collections have 0.4 to 0.8.
 */
const minShareOfWords = 0.2;
/** Weight in a hybrid search for each share, and at most: chosen on eight collections, leaving out each (benchmarks/quality). */
const weightPerShare = 0.5;
const maxWeight = 0.4;
/** A model is trained again when the store has so many times the chunks. */
const growth = 1.5;

const Facts = LatentFileFacts.extend({
  format: z.literal(2),
  store: z.string(),
  analyzer: z.string(),
  contextWeight: z.number(),
  position: z.object({ label: z.int(), removal: z.int() }),
  trainedOn: z.int().positive(),
  shareOfWords: z.number().optional(),
});

const load = (folder: string) =>
  loadIndex(folder, "latent", (manifest) => Facts.safeParse(manifest, { jitless: true }).data);

/** The problem of a store's saved latent model, if any. */
export async function savedLatentProblem(folder: string, store: string): Promise<StoreProblem | undefined> {
  return indexProblem("latent", await load(folder), store);
}

/** Figures of a closed store's latent model. */
export interface LatentFigures {
  /** Chunks that the store had when the model was trained. */
  readonly trainedOn: number;
  /** Share of the variance of a sample that it explains, 0 to 1. */
  readonly explained: number;
  /**
   * How well it answered questions that were made of the store's own texts, as a share of how well their words did. Absent where there
   * were too few texts to ask about, or where their words told nothing.
   */
  readonly shareOfWords?: number;
  /** Its weight in a hybrid search, beside 1 for words, unless a caller gives one. Absent where it was not measured. */
  readonly weight?: number;
  /** False where `auto` found that it answers them too badly to help. */
  readonly used: boolean;
}

/** The figures of the model that is saved in a store's folder; `undefined` without one. */
export function latentFigures(folder: string): LatentFigures | undefined {
  const facts = Facts.safeParse(savedFacts(folder, "latent")).data;
  if (!facts) return undefined;
  const { trainedOn, explained, shareOfWords } = facts;
  const measured = shareOfWords !== undefined && { shareOfWords, weight: weightOf(shareOfWords) };
  return { trainedOn, explained, ...measured, used: facts.terms > 0 };
}

export interface LatentOptions {
  /** `auto`: only where the model explains enough of the texts. */
  readonly latent: true | "auto";
  readonly contextWeight: number;
  readonly allowed: AllowedChunks;
  readonly folder: string;
  /** Id of the store: files of another store are not used. */
  readonly store: string;
  readonly onWarning: (message: string) => void;
}

/** A model, with the vectors of all chunks where it is used. */
interface Trained {
  readonly model: LatentModel;
  readonly trainedOn: number;
  /** See `LatentFigures`. */
  readonly shareOfWords: number | undefined;
  readonly vectors: FlatIndex;
  /** Absent where the model is not used. */
  readonly updater?: IndexUpdater<TextRow>;
}

const unused = { numbers: new Map<string, number>(), weights: new Float32Array(0), places: new Float32Array(0) };
const beginning: Position = { label: 0, removal: 0 };

/** The chunks of a store along the directions of a model that was trained on them, in memory. */
export class LatentIndex {
  readonly #changes: Changes;
  readonly #options: LatentOptions;
  readonly #training = new TaskQueue();
  #trained: Trained | undefined;
  /** A model whose vectors are still being made, while the one before it answers. */
  #next: Trained | undefined;
  #saved: (Position & Pick<Trained, "trainedOn">) | undefined;
  #closed = false;

  private constructor(changes: Changes, options: LatentOptions) {
    this.#changes = changes;
    this.#options = options;
  }

  /** Loads the saved model if it is intact, of this store, and made with the same analysis; else begins without one. */
  static async open(changes: Changes, options: LatentOptions): Promise<LatentIndex> {
    const index = new LatentIndex(changes, options);
    const loaded = await load(options.folder);
    const warn = (reason: string) => {
      options.onWarning(`The saved latent model cannot be used (${reason}): it is trained again from the store`);
    };
    if (loaded.outcome === "refused") warn(loaded.reason);
    if (loaded.outcome !== "loaded") return index;
    const { facts, filePath } = loaded;
    const sameAnalysis = facts.analyzer === analyzerFingerprint() && facts.contextWeight === options.contextWeight;
    if (!sameAnalysis || !isCurrent(facts, options.store, changes.head())) return index;
    // Another process may have replaced the file since it was checked.
    const content = await readLatentFile(filePath, facts).catch((error: unknown) => warn(asError(error).message));
    if (!content) return index;
    const { model, vectors } = content;
    index.#trained = index.#begin(model, facts, facts.position);
    if (index.#trained.updater)
      for (const [label, vector] of vectors.entries()) index.#trained.vectors.add(label, vector);
    index.#saved = { ...facts.position, trainedOn: facts.trainedOn };
    return index;
  }

  /** The chunks nearest to a query; none where no model is used, or none of the query's words is known to it. */
  async search(text: string, count: number, filter?: Filter, upTo?: Position): Promise<Ranking> {
    const { updater, model, vectors } = this.#trained ?? {};
    await updater?.catchUp(upTo);
    const query = updater && latentVector(model!, queryTerms(text));
    if (!query) return { labels: new Float64Array(0), scores: new Float64Array(0) };
    const length = Math.hypot(...query);
    return vectors!.search(
      query.map((part) => part / length),
      count,
      filter && this.#options.allowed.by(filter),
    );
  }

  /** The model's weight in a hybrid search; `undefined` where it was not measured. */
  get weight(): number | undefined {
    const { shareOfWords } = this.#trained ?? {};
    return shareOfWords === undefined ? undefined : weightOf(shareOfWords);
  }

  /** The same as `catchUp`, with the model that there is, if any: a long run does not train often. */
  async keepUp(): Promise<void> {
    await this.#trained?.updater?.catchUp();
  }

  /** Resolves when a model that is due was trained, and holds everything that was committed before the call. */
  async catchUp(): Promise<void> {
    await this.#training.run(() => this.#trainIfDue());
    await this.keepUp();
  }

  /** Whether `save` has something to save, once the index has caught up. */
  isUnsaved(): boolean {
    if (this.#isDue()) return true;
    return this.#trained !== undefined && !this.#isSavedAt(this.#trained, this.#changes.head());
  }

  /** Saves the model, if it has changed since it was saved. */
  async save(): Promise<void> {
    const trained = this.#trained;
    const work = async () => {
      if (!trained) return;
      const { model, vectors, trainedOn, shareOfWords, updater } = trained;
      const { position } = updater ?? { position: beginning };
      if (this.#isSavedAt(trained, position)) return;
      const content = { model, vectors };
      const { folder, store, contextWeight } = this.#options;
      const facts: z.input<typeof Facts> = {
        format: 2,
        store,
        analyzer: analyzerFingerprint(),
        contextWeight,
        position,
        trainedOn,
        ...(shareOfWords !== undefined && { shareOfWords }),
        ...latentFileFacts(content),
      };
      await saveIndex(folder, "latent", facts, (path) => writeLatentFile(path, content));
      this.#saved = { ...position, trainedOn };
    };
    await (trained?.updater ? trained.updater.exclusively(work) : work());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#next?.updater?.stop(), this.#trained?.updater?.stop()]);
    await this.#training.idle();
  }

  /** Whether the saved file is of this model, with the vectors of all chunks up to a position where it has some. */
  #isSavedAt({ trainedOn, updater }: Trained, head: Position): boolean {
    const { label, removal, trainedOn: before } = this.#saved ?? {};
    const position = updater ? head : beginning;
    return position.label === label && position.removal === removal && trainedOn === before;
  }

  #isDue(): boolean {
    const { latent } = this.#options;
    const count = this.#changes.chunkCount();
    if (count < (latent === true ? minChunks : minChunksUnasked)) return false;
    if (!this.#trained || count >= growth * this.#trained.trainedOn) return true;
    // A model that `auto` found useless was not kept.
    return latent === true && !this.#trained.updater;
  }

  async #trainIfDue(): Promise<void> {
    if (this.#closed || !this.#isDue()) return;
    const count = this.#changes.chunkCount();
    const sample = await this.#sample(Math.min(sampleChunks, count));
    const trained = await inSlices(this.#untilClosed(train(sample)));
    if (!trained) return;
    const isUsed = this.#options.latent === true || (trained.share ?? 0) >= minShareOfWords;
    const model = isUsed ? trained.model : { ...trained.model, ...unused };
    this.#next = this.#begin(model, { trainedOn: count, shareOfWords: trained.share }, beginning);
    await this.#next.updater?.catchUp();
    if (this.#closed) return;
    const before = this.#trained;
    this.#trained = this.#next;
    await before?.updater?.stop();
  }

  *#untilClosed<Result>(steps: Generator<void, Result>): Generator<void, Result | undefined> {
    for (let step = steps.next(); !this.#closed; step = steps.next()) {
      if (step.done) return step.value;
      yield;
    }
    return undefined;
  }

  #begin(
    model: LatentModel,
    { trainedOn, shareOfWords }: Pick<Trained, "trainedOn"> & { readonly shareOfWords?: number | undefined },
    from: Position,
  ): Trained {
    const vectors = new FlatIndex(model.dimension);
    const figures = { trainedOn, shareOfWords, vectors };
    if (model.numbers.size === 0) return { model, ...figures };
    const { contextWeight } = this.#options;
    const index = {
      read: (label: number, limit: number) => this.#changes.textsAfter(label, limit),
      add: ({ label, text, context }: TextRow) => {
        const vector = latentVector(model, countsOf(terms(text), terms(context), contextWeight));
        if (vector) vectors.add(label, vector);
      },
      remove: (label: number) => vectors.remove(label),
    };
    return { model, ...figures, updater: new IndexUpdater(this.#changes, index, from) };
  }

  /** The terms of at least `wanted` chunks that are evenly spread over the store. */
  async #sample(wanted: number): Promise<readonly SampledText[]> {
    let step = Math.max(1, Math.floor(this.#changes.head().label / sampleChunks));
    for (;;) {
      const sample = await this.#sampleEvery(step);
      if (sample.length >= wanted || step === 1) return sample;
      // Deleted chunks leave gaps among the labels.
      step = Math.max(1, Math.min(step - 1, Math.floor((step * sample.length) / wanted)));
    }
  }

  async #sampleEvery(step: number): Promise<readonly SampledText[]> {
    const slice = new TimeSlice();
    const sample: SampledText[] = [];
    for (let label = 0; sample.length < sampleChunks; label += step - 1) {
      const [row] = this.#changes.textsAfter(label, 1);
      if (!row) break;
      const ofText = terms(row.text);
      sample.push({ terms: ofText, counts: countsOf(ofText, terms(row.context), this.#options.contextWeight) });
      label = row.label;
      if (slice.over) await slice.next();
    }
    return sample;
  }
}

/**
 * Trains a model, and measures it where there are enough texts to train it on four fifths and to ask about the others. Pauses after
 * short steps.
 */
function* train(sample: readonly SampledText[]) {
  const isMeasured = sample.length >= minChunksUnasked;
  const trainedOn = isMeasured ? sample.filter((_, index) => index % askedEvery !== 0) : sample;
  const model = yield* trainLatentModel(trainedOn.map(({ counts }) => counts));
  return { model, share: isMeasured ? yield* answeredShare(model, sample) : undefined };
}

function weightOf(share: number): number {
  return Math.min(maxWeight, weightPerShare * share);
}

/** Terms of a text with those of its context, each of which counts `contextWeight` times. */
function countsOf(text: readonly string[], context: readonly string[], contextWeight: number): TermCounts {
  const counts = new Map<string, number>();
  for (const term of text) counts.set(term, (counts.get(term) ?? 0) + 1);
  if (contextWeight > 0) for (const term of context) counts.set(term, (counts.get(term) ?? 0) + contextWeight);
  return counts;
}
