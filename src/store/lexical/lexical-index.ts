import { z } from "zod";
import type { Filter } from "../../filter.js";
import { surelyHeld } from "../../text/phrase-match.js";
import { NumberedTerms, terms } from "../../text/terms.js";
import { queryTerms } from "../../text/query-terms.js";
import type { AllowedChunks } from "../allowed-chunks.js";
import type { Changes, Position, TextRow } from "../changes.js";
import { Follower } from "../follower.js";
import { loadGeneration, saveGeneration } from "../generation.js";
import type { Ranking } from "../top-k.js";
import { analyzerFingerprint } from "./analyzer-fingerprint.js";
import { type Bm25Options, Bm25Index } from "./bm25-index.js";
import { LexicalFileFacts, lexicalFileFacts, readLexicalFile, writeLexicalFile } from "./lexical-file.js";

const name = "lexical";

const Facts = LexicalFileFacts.extend({
  format: z.literal(2),
  store: z.string(),
  analyzer: z.string(),
  contextWeight: z.number(),
  position: z.object({ label: z.int(), removal: z.int() }),
});

export interface LexicalOptions extends Bm25Options {
  readonly contextWeight: number;
  readonly allowed: AllowedChunks;
  readonly folder: string;
  /** Id of the store: files of another one are not ours. */
  readonly store: string;
  readonly onWarning: (message: string) => void;
}

export interface LexicalConditions {
  /** Only chunks that may hold all of these phrases: their texts alone tell which do. */
  readonly phrases?: readonly string[] | undefined;
  /** Only chunks that it lets through. */
  readonly filter?: Filter | undefined;
  /** How far the index has to have followed the store. Default: all that is committed. */
  readonly upTo?: Position | undefined;
}

/** The words of a store's chunks, in memory. */
export class LexicalIndex {
  readonly #options: LexicalOptions;
  readonly #follower: Follower<TextRow>;
  #index: Bm25Index;
  /** By the index's numbers. Made when it is first needed: who only searches adds nothing. */
  #words: NumberedTerms | undefined;
  #savedLabel: number;
  #savedRemoval: number;

  private constructor(
    changes: Changes,
    options: LexicalOptions,
    index: Bm25Index,
    position = { label: 0, removal: 0 },
  ) {
    this.#options = options;
    this.#index = index;
    this.#savedLabel = position.label;
    this.#savedRemoval = position.removal;
    this.#follower = new Follower(
      changes,
      {
        read: (label, limit) => changes.textsAfter(label, limit),
        add: (row) => this.#add(row),
        remove: (label) => this.#index.remove(label),
      },
      position,
    );
  }

  /** The saved index, if it is whole and of this store; else an empty one, which fills itself from the store. */
  static async open(changes: Changes, options: LexicalOptions): Promise<LexicalIndex> {
    const loaded = await loadGeneration(options.folder, name, (manifest) => Facts.safeParse(manifest).data);
    if (loaded.outcome === "refused") {
      options.onWarning(`The saved lexical index cannot be used (${loaded.reason}): it is built again from the store`);
    }
    if (loaded.outcome !== "loaded") return new LexicalIndex(changes, options, Bm25Index.empty());
    const { facts, filePath } = loaded.generation;
    const head = changes.head();
    const usable =
      facts.store === options.store &&
      facts.analyzer === analyzerFingerprint() &&
      facts.contextWeight === options.contextWeight &&
      facts.position.label <= head.label &&
      facts.position.removal <= head.removal;
    if (!usable) return new LexicalIndex(changes, options, Bm25Index.empty());
    return new LexicalIndex(
      changes,
      options,
      await Bm25Index.from(await readLexicalFile(filePath, facts)),
      facts.position,
    );
  }

  /** The best for a query's words. */
  async search(text: string, count: number, { phrases = [], filter, upTo }: LexicalConditions = {}): Promise<Ranking> {
    await this.#follower.follow(upTo);
    // Whoever quotes a word means it.
    const words = phrases.length > 0 ? terms(text) : queryTerms(text);
    return this.#index.search(words, count, this.#options, {
      required: surelyHeld(phrases),
      ...(filter && { allowed: this.#options.allowed.by(filter) }),
    });
  }

  /** Resolves when all that was committed before the call can be found. */
  async follow(): Promise<void> {
    await this.#follower.follow();
    if (!this.#overgrown()) return;
    await this.#follower.exclusively(async () => {
      if (!this.#overgrown()) return;
      this.#index = await this.#index.compacted();
      this.#words = undefined;
    });
  }

  /** Whether there is anything to save. */
  get changed(): boolean {
    const { label, removal } = this.#follower.position;
    return label !== this.#savedLabel || removal !== this.#savedRemoval;
  }

  async save(): Promise<void> {
    await this.#follower.exclusively(async () => {
      const content = await this.#index.content();
      const { position } = this.#follower;
      const facts: z.input<typeof Facts> = {
        format: 2,
        store: this.#options.store,
        analyzer: analyzerFingerprint(),
        contextWeight: this.#options.contextWeight,
        position,
        ...lexicalFileFacts(content),
      };
      await saveGeneration(this.#options.folder, name, facts, (path) => writeLexicalFile(path, content));
      this.#savedLabel = position.label;
      this.#savedRemoval = position.removal;
    });
  }

  async close(): Promise<void> {
    await this.#follower.stop();
  }

  /**
   * Words of the context (title and headings) count `contextWeight` times over, as a whole number: in BM25 with weighted
   * fields the frequencies are added before they saturate (Robertson, Zaragoza and Taylor, "Simple BM25 extension to
   * multiple weighted fields", 2004).
   */
  #add({ label, context, text }: TextRow): void {
    const { contextWeight } = this.#options;
    const words = (this.#words ??= new NumberedTerms((word) => this.#index.numberOf(word)));
    this.#index.add(label, (add) => {
      words.each(text, (word) => add(word, 1));
      if (contextWeight > 0) words.each(context, (word) => add(word, contextWeight));
    });
  }

  /** Whether most of its entries are of chunks that are gone. */
  #overgrown(): boolean {
    return this.#index.dead > 1000 && this.#index.dead > this.#index.size;
  }
}
