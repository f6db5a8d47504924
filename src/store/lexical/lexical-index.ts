import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Filter } from "../../core/filter.js";
import { asError, StoreError } from "../../core/errors.js";
import type { StoreProblem } from "../../core/ports.js";
import { requiredTerms } from "../../text/words/phrase-match.js";
import { namingTerms, searchTerms } from "../../text/words/page-names.js";
import { type NearStem, type NearStems, nearestStems } from "../../text/words/similar-words.js";
import { NumberedTerms, terms } from "../../text/words/terms.js";
import type { AllowedChunks } from "../derived/allowed-chunks.js";
import type { Changes, Position, TextRow } from "../derived/changes.js";
import { IndexUpdater } from "../derived/index-updater.js";
import { indexProblem, isCurrent, loadIndex, type SavedFile, saveManifest } from "../derived/saved-index.js";
import { TaskQueue, TimeSlice } from "../derived/scheduling.js";
import type { Ranking } from "../derived/top-k.js";
import { Bm25Index, type Bm25Options } from "./bm25-index.js";
import {
  LexicalFacts,
  openSegments,
  type SavedRemovals,
  type SavedSegment,
  saveRemovals,
  saveSegment,
} from "./lexical-files.js";
import { segmentsToMerge, type SegmentSize } from "./merge-policy.js";
import { Segment } from "./segment.js";
import { MemoryBytes, type SegmentSink } from "./segment-bytes.js";
import type { SegmentFacts } from "./segment-writer.js";
import { StoredWords } from "./stored-words.js";

const load = (folder: string, check: "checksums" | "sizes") =>
  loadIndex(folder, "lexical", (manifest) => LexicalFacts.safeParse(manifest, { jitless: true }).data, check);

/** The problem of a store's saved lexical index, if any. Reads all of it. */
export async function savedLexicalProblem(folder: string, store: string): Promise<StoreProblem | undefined> {
  return indexProblem("lexical", await load(folder, "checksums"), store);
}

/** Removals that opening may have to apply again, beside a quarter of those that are saved. */
const minUnsavedRemovals = 1024;

/** Texts in memory from which an ongoing ingest saves them: making their postings again would take seconds. */
const manyUnsavedTexts = 32_768;

/** Postings of recent texts from which they become a segment: some ten thousand chunks, 10 MB. */
const enoughPostings = 2 ** 20;

export interface LexicalOptions extends Bm25Options {
  readonly contextWeight: number;
  readonly allowed: AllowedChunks;
  readonly folder: string;
  /** Id of the store: files of another store are not used. */
  readonly store: string;
  readonly onWarning: (message: string) => void;
  /** Called when much is unsaved: saves it now, or leaves it. */
  readonly whenUnsaved: (save: () => Promise<unknown>) => Promise<void>;
  /** Postings of recent texts from which they become a segment. Default: 1,048,576. */
  readonly enoughPostings?: number;
}

export interface LexicalConditions {
  /** Only chunks that may contain all of these phrases; their texts must be checked afterwards. */
  readonly phrases?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
  /** The changes that a search must see. Default: everything committed. */
  readonly upTo?: Position | undefined;
}

/** State of the saved files. */
interface SavedState {
  readonly position: Position;
  /** The last removal that they hold for certain. */
  readonly removal: number;
  readonly removals: SavedRemovals | undefined;
}

const nothingSaved: SavedState = {
  position: { label: 0, removal: 0 },
  removal: 0,
  removals: undefined,
};

/** The words of a store's chunks. */
export class LexicalIndex {
  readonly #changes: Changes;
  readonly #options: LexicalOptions;
  readonly #saving = new TaskQueue();
  readonly #words = new StoredWords();
  #isSaving = false;
  #index: Bm25Index;
  #updater: IndexUpdater<TextRow>;
  #saved: SavedState;
  /** The files of segments, also of those that no manifest names because a save failed halfway. */
  readonly #files: WeakMap<Segment, SavedFile>;
  /** Resolves when all work with the damaged index has ended. */
  #discarded = Promise.resolve();

  private constructor(
    changes: Changes,
    options: LexicalOptions,
    saved = nothingSaved,
    segments: readonly SavedSegment[] = [],
  ) {
    this.#changes = changes;
    this.#options = options;
    this.#saved = saved;
    this.#files = new WeakMap(segments.map((one) => [one.segment, one.saved]));
    this.#index = new Bm25Index(segments.map(({ segment }) => segment));
    this.#updater = this.#createUpdater(this.#index, { label: saved.position.label, removal: saved.removal });
  }

  /** Opens the saved index if it is intact, of this store, and made with the same analysis; else begins an empty one. */
  static async open(changes: Changes, options: LexicalOptions): Promise<LexicalIndex> {
    for (let isLastAttempt = false; ; isLastAttempt = true) {
      const loaded = await load(options.folder, "sizes");
      if (loaded.outcome === "refused") warnOfDamage(options, loaded.reason);
      if (loaded.outcome !== "loaded") return new LexicalIndex(changes, options);
      const { facts } = loaded;
      const sameAnalysis = facts.analyzer === analyzerFingerprint() && facts.contextWeight === options.contextWeight;
      if (!sameAnalysis || !isCurrent(facts, options.store, changes.head())) return new LexicalIndex(changes, options);
      try {
        const { segments, removals } = openSegments(options.folder, facts);
        return new LexicalIndex(changes, options, { ...facts, removals }, segments);
      } catch (error) {
        // Another process may have replaced the files meanwhile: the second attempt finds the new ones.
        if (!isLastAttempt) continue;
        warnOfDamage(options, asError(error).message);
        return new LexicalIndex(changes, options);
      }
    }
  }

  /** The best chunks for a query's words. */
  async search(text: string, count: number, { phrases = [], filter, upTo }: LexicalConditions = {}): Promise<Ranking> {
    const words = searchTerms(text, phrases);
    return this.#rebuiltIfDamaged(async (index, updater) => {
      await updater.catchUp(upTo);
      return index.search(words, count, this.#options, {
        required: requiredTerms(phrases),
        ...(filter && { allowed: this.#options.allowed.by(filter) }),
      });
    });
  }

  /** The stems nearest to a typed word that chunks have. */
  async similarStems(
    near: NearStems,
    count: number,
    { filter, upTo }: Omit<LexicalConditions, "phrases"> = {},
  ): Promise<readonly string[]> {
    return this.#rebuiltIfDamaged(async (index, updater) => {
      await updater.catchUp(upTo);
      const slice = new TimeSlice();
      const found: NearStem[] = [];
      for (const [stem, slips] of await this.#words.near(index, near)) {
        found.push({ stem, slips, chunks: index.textsWith(stem, this.#options) });
        if (slice.over) await slice.next();
      }
      if (!filter) return nearestStems(found, count);
      const allowed = this.#options.allowed.by(filter);
      const isAllowed = (stem: string) =>
        index.search(new Map([[stem, 1]]), 1, this.#options, { allowed }).labels.length > 0;
      const admitted: string[] = [];
      for (const stem of nearestStems(found, Infinity)) {
        if (admitted.length === count) break;
        if (isAllowed(stem)) admitted.push(stem);
        if (slice.over) await slice.next();
      }
      return admitted;
    });
  }

  /** Resolves when the index holds everything that was committed before the call. */
  async catchUp(): Promise<void> {
    await this.#rebuiltIfDamaged((_, updater) => updater.catchUp());
  }

  /** Whether `save` has something to save, once the index has caught up. */
  isUnsaved(): boolean {
    const { label, removal } = this.#changes.head();
    return label !== this.#saved.position.label || this.#areManyRemovals(removal, this.#index.segments);
  }

  /** Saves what has changed since the index was saved, and merges small segments. */
  async save(): Promise<void> {
    await this.#saving.run(async () => {
      this.#isSaving = true;
      try {
        await this.#rebuiltIfDamaged((index, updater) => this.#save(index, updater));
      } finally {
        this.#isSaving = false;
      }
    });
  }

  async close(): Promise<void> {
    await this.#updater.stop();
    await this.#saving.idle();
    await this.#discarded;
    this.#index.close();
  }

  #createUpdater(index: Bm25Index, from: Position): IndexUpdater<TextRow> {
    const { contextWeight } = this.#options;
    // Created at the first addition: a process that only searches needs none.
    let words: NumberedTerms | undefined;
    return new IndexUpdater(
      this.#changes,
      {
        read: (label, limit) => this.#changes.textsAfter(label, limit),
        // Words of the context (title and headings) count `contextWeight` times, a whole number: in BM25 with weighted fields,
        // frequencies are added before they saturate (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
        // weighted fields", 2004).
        add: ({ label, ...chunk }) => {
          if (index.recent.texts === 0) words = undefined;
          const numbers = (words ??= new NumberedTerms((word) => index.numberOf(word)));
          index.add(label, (add) => {
            numbers.each(chunk.text, (word) => add(word, 1));
            if (contextWeight === 0) return;
            numbers.each(chunk.context, (word) => add(word, contextWeight));
            for (const term of namingTerms(chunk)) add(index.numberOf(term), 1);
          });
        },
        remove: (label) => index.remove(label),
        settle: () => this.#settle(index),
      },
      from,
    );
  }

  /** Begins again with an empty index when a part of the files that is read late turns out to be damaged. */
  async #rebuiltIfDamaged<Result>(
    work: (index: Bm25Index, updater: IndexUpdater<TextRow>) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const [index, updater] = [this.#index, this.#updater];
      try {
        const result = await work(index, updater);
        // An index that was found damaged meanwhile was no longer brought up to date.
        if (index === this.#index) return result;
      } catch (error) {
        const isOfFiles = error instanceof StoreError && index.segments.some(({ bytes }) => bytes.path === error.path);
        if (!isOfFiles || error.code !== "damaged") throw error;
        if (index === this.#index) {
          warnOfDamage(this.#options, error.message);
          this.beginAgain();
        }
      }
      await this.#updater.catchUp();
    }
  }

  /** Begins again with an empty index, because its files are damaged. */
  beginAgain(): void {
    const [index, updater] = [this.#index, this.#updater];
    this.#saved = nothingSaved;
    this.#index = new Bm25Index();
    this.#updater = this.#createUpdater(this.#index, nothingSaved.position);
    const unused = Promise.all([this.#discarded, updater.stop(), this.#saving.idle()]);
    this.#discarded = unused.then(() => index.close());
  }

  /** Makes many recent texts a segment. */
  async #settle(index: Bm25Index): Promise<void> {
    if (index.recent.postings < (this.#options.enoughPostings ?? enoughPostings)) return;
    await index.makeSegment(this.#options);
    if (this.#isSaving) return;
    const unsaved = () => index.segments.filter(({ bytes }) => bytes.path === undefined);
    if (unsaved().reduce((sum, { labels }) => sum + labels.length, 0) >= manyUnsavedTexts) {
      this.#options
        .whenUnsaved(() => this.save())
        .catch((error: unknown) => {
          this.#options.onWarning(`The lexical index was not saved: ${asError(error).message}`);
        });
    }
    for (let segments = unsaved(); ; segments = unsaved()) {
      const range = segmentsToMerge(segments.map(sizeOf));
      if (!range) return;
      const old = segments.slice(range.from, range.to);
      const bytes = new MemoryBytes();
      index.replace(old, new Segment(bytes, await index.merged(old, bytes, this.#options)));
    }
  }

  /** While segments are written, others may be added behind them, and texts removed. */
  async #save(index: Bm25Index, updater: IndexUpdater<TextRow>): Promise<void> {
    const { folder, store, contextWeight } = this.#options;
    const begun = await updater.exclusively(async () => {
      const { label, removal } = updater.position;
      if (label === this.#saved.position.label && !this.#areManyRemovals(removal, index.segments)) return undefined;
      if (index.recent.texts > 0) await index.makeSegment(this.#options);
      return { label, segments: index.segments };
    });
    if (!begun) return;
    const { label } = begun;
    // Another process that saved the index meanwhile has deleted the files that it does not use.
    const isInFolder = (saved: SavedFile | undefined) => saved !== undefined && existsSync(join(folder, saved.file));
    let { segments } = begun;
    const replace = async (old: readonly Segment[], write: (sink: SegmentSink) => Promise<SegmentFacts>) => {
      const { segment, saved } = await saveSegment(folder, write);
      index.replace(old, segment);
      const added = segment.labels.length > 0 ? [segment] : [];
      segments = segments.toSpliced(segments.indexOf(old[0]!), old.length, ...added);
      this.#files.set(segment, saved);
    };
    for (let range = segmentsToMerge(segments.map(sizeOf)); range; range = segmentsToMerge(segments.map(sizeOf))) {
      const old = segments.slice(range.from, range.to);
      await replace(old, (sink) => index.merged(old, sink, this.#options));
    }
    for (const segment of segments) {
      if (isInFolder(this.#files.get(segment))) continue;
      // An earlier save may have counted removals that the copy would not have.
      const mayCopy = () => segment.bytes.path === undefined && segment.deadSlots.length === 0;
      await replace([segment], (sink) =>
        mayCopy() ? Promise.resolve(segment.copyTo(sink)) : index.merged([segment], sink, this.#options),
      );
    }
    const saved = segments.map((segment) => ({ segment, saved: this.#files.get(segment)! }));
    let { removal, removals } = this.#saved;
    const areLost = removals && !isInFolder(removals.saved);
    if (areLost || this.#areManyRemovals(updater.position.removal, segments)) {
      ({ removal } = updater.position);
      removals = segments.some(({ deadSlots }) => deadSlots.length > 0) ? await saveRemovals(folder, saved) : undefined;
    }
    const position = { label, removal: updater.position.removal };
    const facts: LexicalFacts = {
      format: 3,
      store,
      analyzer: analyzerFingerprint(),
      contextWeight,
      position,
      removal,
      files: [...saved.map((one) => one.saved), ...(removals ? [removals.saved] : [])],
      segments: saved.map(({ segment, saved: { file } }) => ({ file, ...segment.facts })),
      ...(removals && { removed: { file: removals.saved.file, counts: removals.counts } }),
    };
    if (index !== this.#index) return;
    await saveManifest(folder, "lexical", facts);
    if (index === this.#index) this.#saved = { position, removal, removals };
  }

  /** Whether the files lack too many removals for opening to apply them again. */
  #areManyRemovals(removal: number, segments: readonly Segment[]): boolean {
    const unsaved = removal - this.#saved.removal;
    const dead = segments.reduce((sum, { deadSlots }) => sum + deadSlots.length, 0);
    return unsaved > 0 && (dead === 0 || unsaved > Math.max(minUnsavedRemovals, dead / 4));
  }
}

function sizeOf({ labels, deadSlots }: Segment): SegmentSize {
  return { texts: labels.length, deadTexts: deadSlots.length };
}

function warnOfDamage({ onWarning }: LexicalOptions, reason: string): void {
  onWarning(`The saved lexical index cannot be used (${reason}): it is built again from the store`);
}

/** Changes when texts are split into words differently: by another version of ours, or of Node's Unicode data. */
export function analyzerFingerprint(): string {
  const text =
    "Running the café's HNSW-index v2.0 naïvely: 检索增强生成，不到 50 毫秒。 Ελληνικά, русский, 한국어, かな ﬁne 語義約定 ﾃﾞｰﾀ";
  const named = namingTerms({
    documentId: "file:///guides/fileNames.md",
    context: "A title > Its heading",
    text: "# Café",
  });
  return createHash("sha256")
    .update(JSON.stringify([...terms(text), ...named]))
    .digest("hex")
    .slice(0, 16);
}
