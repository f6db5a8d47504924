import { createHash } from "node:crypto";
import { z } from "zod";
import type { Filter } from "../../core/filter.js";
import type { StoreProblem } from "../../core/ports.js";
import { requiredTerms } from "../../text/words/phrase-match.js";
import { NumberedTerms, queryTerms, terms } from "../../text/words/terms.js";
import type { AllowedChunks } from "../derived/allowed-chunks.js";
import type { Changes, Position, TextRow } from "../derived/changes.js";
import { IndexUpdater } from "../derived/index-updater.js";
import { indexProblem, isCurrent, loadIndex, saveIndex } from "../derived/saved-index.js";
import type { Ranking } from "../derived/top-k.js";
import { Bm25Index, type Bm25Options } from "./bm25-index.js";
import { LexicalFileFacts, lexicalFileFacts, readLexicalFile, writeLexicalFile } from "./lexical-file.js";

const Facts = LexicalFileFacts.extend({
  format: z.literal(2),
  store: z.string(),
  analyzer: z.string(),
  contextWeight: z.number(),
  position: z.object({ label: z.int(), removal: z.int() }),
});

const load = (folder: string) => loadIndex(folder, "lexical", (manifest) => Facts.safeParse(manifest).data);

/** The problem of a store's saved lexical index, if any. */
export async function savedLexicalProblem(folder: string, store: string): Promise<StoreProblem | undefined> {
  return indexProblem("lexical", await load(folder), store);
}

export interface LexicalOptions extends Bm25Options {
  readonly contextWeight: number;
  readonly allowed: AllowedChunks;
  readonly folder: string;
  /** Id of the store: files of another store are not used. */
  readonly store: string;
  readonly onWarning: (message: string) => void;
}

export interface LexicalConditions {
  /** Only chunks that may contain all of these phrases; their texts must be checked afterwards. */
  readonly phrases?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
  /** The changes that a search must see. Default: everything committed. */
  readonly upTo?: Position | undefined;
}

/** The words of a store's chunks, in memory. */
export class LexicalIndex {
  readonly #options: LexicalOptions;
  readonly #updater: IndexUpdater<TextRow>;
  #index: Bm25Index;
  /** The index's term numbers. Created at the first addition: a process that only searches needs none. */
  #words: NumberedTerms | undefined;
  #saved: Position;

  private constructor(
    changes: Changes,
    options: LexicalOptions,
    index = Bm25Index.empty(),
    position = { label: 0, removal: 0 },
  ) {
    this.#options = options;
    this.#index = index;
    this.#saved = position;
    this.#updater = new IndexUpdater(
      changes,
      {
        read: (label, limit) => changes.textsAfter(label, limit),
        add: (row) => this.#add(row),
        remove: (label) => this.#index.remove(label),
      },
      position,
    );
  }

  /** Loads the saved index if it is intact, of this store, and made with the same analysis; else begins an empty one. */
  static async open(changes: Changes, options: LexicalOptions): Promise<LexicalIndex> {
    const loaded = await load(options.folder);
    if (loaded.outcome === "refused") {
      options.onWarning(`The saved lexical index cannot be used (${loaded.reason}): it is built again from the store`);
    }
    if (loaded.outcome !== "loaded") return new LexicalIndex(changes, options);
    const { facts, filePath } = loaded;
    const sameAnalysis = facts.analyzer === analyzerFingerprint() && facts.contextWeight === options.contextWeight;
    if (!sameAnalysis || !isCurrent(facts, options.store, changes.head())) return new LexicalIndex(changes, options);
    const index = await Bm25Index.from(await readLexicalFile(filePath, facts));
    return new LexicalIndex(changes, options, index, facts.position);
  }

  /** The best chunks for a query's words. */
  async search(text: string, count: number, { phrases = [], filter, upTo }: LexicalConditions = {}): Promise<Ranking> {
    await this.#updater.catchUp(upTo);
    // A query with quotes is meant literally, so it keeps its question words.
    const words = phrases.length > 0 ? terms(text) : queryTerms(text);
    return this.#index.search(words, count, this.#options, {
      required: requiredTerms(phrases),
      ...(filter && { allowed: this.#options.allowed.by(filter) }),
    });
  }

  /** Resolves when the index holds everything that was committed before the call. */
  async catchUp(): Promise<void> {
    await this.#updater.catchUp();
    if (!this.#needsCompaction()) return;
    await this.#updater.exclusively(async () => {
      if (!this.#needsCompaction()) return;
      this.#index = await this.#index.compacted();
      this.#words = undefined;
    });
  }

  /** Saves the index, if it has changed since it was saved. */
  async save(): Promise<void> {
    await this.#updater.exclusively(async () => {
      const { position } = this.#updater;
      if (position.label === this.#saved.label && position.removal === this.#saved.removal) return;
      const content = await this.#index.content();
      const facts: z.input<typeof Facts> = {
        format: 2,
        store: this.#options.store,
        analyzer: analyzerFingerprint(),
        contextWeight: this.#options.contextWeight,
        position,
        ...lexicalFileFacts(content),
      };
      await saveIndex(this.#options.folder, "lexical", facts, (path) => writeLexicalFile(path, content));
      this.#saved = position;
    });
  }

  async close(): Promise<void> {
    await this.#updater.stop();
  }

  /**
   * Words of the context (title and headings) count `contextWeight` times, a whole number: in BM25 with weighted fields,
   * frequencies are added before they saturate (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted
   * fields", 2004).
   */
  #add({ label, context, text }: TextRow): void {
    const { contextWeight } = this.#options;
    const words = (this.#words ??= new NumberedTerms((word) => this.#index.numberOf(word)));
    this.#index.add(label, (add) => {
      words.each(text, (word) => add(word, 1));
      if (contextWeight > 0) words.each(context, (word) => add(word, contextWeight));
    });
  }

  /** Whether most entries belong to deleted chunks. */
  #needsCompaction(): boolean {
    return this.#index.dead > 1000 && this.#index.dead > this.#index.size;
  }
}

/** Changes when texts are split into words differently: by another version of ours, or of Node's Unicode data. */
function analyzerFingerprint(): string {
  const sample =
    "Running the café's HNSW-index v2.0 naïvely: 检索增强生成，不到 50 毫秒。 Ελληνικά, русский, 한국어, かな ﬁne";
  return createHash("sha256")
    .update(JSON.stringify(terms(sample)))
    .digest("hex")
    .slice(0, 16);
}
