import { OptionsError } from "../errors.js";
import type { TokenCounter } from "../ports.js";
import type { Chunk, Document } from "../types.js";
import type { Block } from "./block.js";
import { blocks } from "./blocks.js";
import { breakPoints, cutWithin, startWithin, wholeBefore } from "./break-points.js";
import { contextLine, headingPaths } from "./chunk-context.js";
import { chunkId, embeddingText } from "./chunk-identity.js";
import { ParentSpans } from "./parent-spans.js";
import { firstAbove } from "./rising.js";
import { TokenIndex } from "./token-index.js";

export interface SplitOptions {
  /** Most tokens of a chunk's `embeddingText`, its context included. At least 16. */
  readonly maxTokens: number;
  /** Tokens repeated from a chunk's end where a block had to be cut inside; at most a quarter of `maxTokens` is. */
  readonly overlapTokens: number;
  readonly tokens: TokenCounter;
  /** Most tokens of a chunk's parent, as they are counted within the text. Default: 0, no parents. */
  readonly parentTokens?: number;
}

/** Of `maxTokens`: most that title and headings may take, and most that they take with a table's header row. */
const contextShare = 1 / 4;
const tableContextShare = 1 / 2;
/** Of the budget: from here on, a chunk is full enough to end at a heading or before a block that does not fit. */
const enough = 1 / 2;
/**
 * Of the budget: a chunk as full as this ends before the next block, whether that would fit or not. More and evener
 * chunks find more: at 512 tokens, 1 instead of 7/10 loses 0.3 of 100 answers in a budget of 512 to 2048 tokens
 * (`benchmarks/spans.ts`).
 */
const full = 7 / 10;
/** Of the budget: less than this is not worth a chunk of its own. */
const tiny = 1 / 8;

/**
 * Chunks of a document in order: spans that together cover its text, none with more tokens than `maxTokens`. A blank
 * document has none. Chunks end before headings where they are half full, between blocks otherwise, and inside a block
 * only where it does not fit: at a sentence or line, at a clause or word, and at last between two characters.
 *
 * Linear in the length of the text: it is counted once as a whole, and each chunk once as it is sent.
 *
 * @throws OptionsError when a single character takes more than `maxTokens`.
 */
export function* split(document: Document, options: SplitOptions): Generator<Chunk> {
  if (document.text.trim() === "") return;
  const splitter = new Splitter(document, options);
  let placed: Placed | undefined = splitter.from(0, 0);
  for (; placed; placed = splitter.after(placed)) yield placed.chunk;
}

interface Placed {
  readonly chunk: Chunk;
  /** Where the next chunk starts: the end, or before it by the overlap. */
  readonly next: number;
}

interface Context {
  readonly line: string;
  /** With the blank line behind it. */
  readonly tokens: number;
}

const noContext: Context = { line: "", tokens: 0 };

class Splitter {
  readonly #document: Document;
  readonly #options: SplitOptions;
  readonly #text: string;
  readonly #blocks: readonly Block[];
  readonly #paths: readonly (readonly string[])[];
  readonly #index: TokenIndex;
  readonly #parents: ParentSpans | undefined;
  readonly #occurrences = new Map<string, number>();
  readonly #contexts = new Map<readonly string[], Context>();
  /** Of the table that was cut last. */
  #tableContext: { readonly block: Block; readonly context: Context } | undefined;
  /** Of the block that was cut last. */
  #cuts: { readonly block: Block; readonly points: Uint32Array } | undefined;
  /** Of the block that the last chunk started in: starts never go back by a block. */
  #blockAtStart = 0;

  constructor(document: Document, options: SplitOptions) {
    this.#document = document;
    this.#options = options;
    this.#text = document.text;
    this.#blocks = blocks(document);
    this.#paths = headingPaths(this.#blocks);
    this.#index = new TokenIndex(document.text, options.tokens);
    const { parentTokens = 0 } = options;
    if (parentTokens > 0) this.#parents = new ParentSpans(this.#text, this.#blocks, this.#index, parentTokens);
  }

  after({ chunk, next }: Placed): Placed | undefined {
    return chunk.end < this.#text.length ? this.from(next, chunk.end) : undefined;
  }

  /** The chunk that starts at `start` and reaches beyond `covered`, up to where the chunks before it go. */
  from(start: number, covered: number): Placed {
    const context = this.#contextAt(start);
    return (
      this.#fitted(start, covered, context) ??
      this.#fitted(covered, covered, context) ??
      this.#fitted(covered, covered, noContext) ??
      this.#refuse(covered)
    );
  }

  /** The chunk from `start`, or nothing when not even a character beyond `covered` fits. */
  #fitted(start: number, covered: number, context: Context): Placed | undefined {
    const { maxTokens, tokens: counter } = this.#options;
    let budget = maxTokens - context.tokens;
    while (budget > 0) {
      const end = this.#end(start, covered, budget);
      const text = this.#text.slice(start, end);
      const embedded = embeddingText({ context: context.line, text });
      const tokens = counter.count(embedded);
      if (tokens <= maxTokens) {
        const { uri } = this.#document;
        const occurrence = this.#occurrences.get(embedded) ?? 0;
        this.#occurrences.set(embedded, occurrence + 1);
        const id = chunkId(uri, embedded, occurrence);
        const chunk = { id, documentId: uri, start, end, text, context: context.line, tokens };
        const parent = this.#parents?.of(chunk);
        return { chunk: parent ? { ...chunk, parent } : chunk, next: this.#nextStart(start, end) };
      }
      budget -= Math.max(tokens - maxTokens, Math.ceil(budget / 16));
    }
    return undefined;
  }

  #refuse(at: number): never {
    const { maxTokens, tokens } = this.#options;
    throw new OptionsError(
      "options",
      `split: the character at ${at} of ${this.#document.uri} takes more than maxTokens, ${maxTokens}, as ${tokens.name} counts. Set a larger maxTokens`,
    );
  }

  /** Where a chunk of about `budget` tokens from `start` ends best; always beyond `covered`. */
  #end(start: number, covered: number, budget: number): number {
    const { length } = this.#text;
    const limit = this.#index.reach(start, budget);
    const { heading, between } = this.#bounds(start, limit, covered, budget);
    if (limit >= length) {
      return heading !== undefined && this.#index.between(heading, length) >= budget * tiny ? heading : length;
    }
    if (heading !== undefined) return heading;
    if (between !== undefined) {
      const filled = this.#index.between(start, between);
      if (filled >= budget * enough || this.#nextFits(between, filled, budget)) return between;
    }
    if (limit <= covered) return this.#endInPiece(start, covered, budget);
    if (between === limit) return between;
    return this.#endInBlock(start, limit, Math.max(covered, between ?? 0), budget);
  }

  /**
   * Bounds between blocks up to `limit`: the last of those before the highest heading once the chunk is full enough, and
   * the last of all. Never behind a heading, nor between a colon and what it announces if there is another.
   */
  #bounds(start: number, limit: number, covered: number, budget: number) {
    let heading: number | undefined;
    let level = 7;
    let between: number | undefined;
    const halfFull = this.#index.reach(start, budget * enough);
    const wellFull = this.#index.reach(start, budget * full);
    for (let at = this.#blockAt(start); ; at++) {
      const block = this.#blocks[at];
      const next = this.#blocks[at + 1];
      if (!block || !next || block.end > limit) return { heading, between };
      if (block.kind === "heading" || block.end <= covered) continue;
      if (between !== undefined && between >= halfFull && this.#introduces(block, next)) continue;
      if (between === undefined || between < wellFull) between = block.end;
      if (next.kind === "heading" && block.end >= halfFull && (next.level ?? 1) <= level) {
        heading = block.end;
        level = next.level ?? 1;
      }
    }
  }

  /** Whether a paragraph such as "For example:" belongs to the fence, list or table behind it. */
  #introduces({ kind, start, end }: Block, next: Block): boolean {
    if (kind !== "paragraph" || next.kind === "paragraph" || next.kind === "heading") return false;
    let last = end - 1;
    while (last > start && /\s/.test(this.#text.charAt(last))) last--;
    return /[:：]/.test(this.#text.charAt(last));
  }

  /** Whether the block at `at`, with the headings before it, should start a chunk in which it is whole. */
  #nextFits(at: number, filled: number, budget: number): boolean {
    let last = this.#blockAt(at);
    while (this.#blocks[last]?.kind === "heading") last++;
    const block = this.#blocks[last];
    if (!block || this.#index.between(at, block.end) > budget) return false;
    return filled >= budget * tiny || block.kind === "fence" || block.kind === "table";
  }

  /**
   * A cut at the sentence or line that parts what is left of the block into even chunks, else at a clause or word before
   * `limit`: 128 + 128 tokens instead of 250 and a rest of 6 find 0.4 more of 100 answers (`benchmarks/spans.ts`).
   */
  #endInBlock(start: number, limit: number, beyond: number, budget: number): number {
    const block = this.#blocks[this.#blockAt(limit - 1)];
    const low = Math.max(start, beyond, block?.start ?? 0);
    if (block) {
      const points = this.#pointsOf(block);
      const rest = this.#index.between(start, block.end);
      const even = this.#index.reach(start, rest / Math.ceil(rest / budget));
      const behind = firstAbove(points, even - 1);
      const point = [points[behind - 1] ?? 0, points[behind] ?? Infinity]
        .filter((place) => place > low && place <= limit)
        .toSorted((one, other) => Math.abs(one - even) - Math.abs(other - even))[0];
      // A cut that leaves most of the chunk empty is worse than one inside a sentence.
      if (point !== undefined && point - start >= (limit - start) * tiny) return point;
    }
    return cutWithin(this.#text, low, limit);
  }

  /** A single piece is too long: as much of it as its share of the budget. */
  #endInPiece(start: number, covered: number, budget: number): number {
    const pieceEnd = this.#index.pieceEnd(start);
    const share = Math.floor(((pieceEnd - start) * budget) / Math.max(1, this.#index.between(start, pieceEnd)));
    return wholeBefore(this.#text, covered, Math.max(covered + 1, Math.min(start + share, pieceEnd)));
  }

  /** Where the chunk after `end` starts: earlier by the overlap if a block of prose or code was cut there. */
  #nextStart(start: number, end: number): number {
    const overlap = Math.min(this.#options.overlapTokens, Math.floor(this.#options.maxTokens / 4));
    const block = this.#blocks[this.#blockAt(end)];
    if (!block || overlap === 0 || block.start >= end || block.kind === "table" || block.kind === "heading") return end;
    const low = Math.max(block.start, start + 1);
    const back = this.#index.reachBack(end, overlap);
    const points = this.#pointsOf(block);
    const point = points[firstAbove(points, Math.max(low, back) - 1)] ?? Infinity;
    if (point < end) return point;
    // The cut is between two sentences, and the one before it is longer than the overlap.
    if (point === end || back < low) return end;
    const word = startWithin(this.#text, back, end);
    return word >= low && word < end ? word : end;
  }

  #contextAt(start: number): Context {
    const at = this.#blockAt(start);
    this.#blockAtStart = at;
    const path = this.#paths[at] ?? [];
    const standing = this.#contexts.get(path) ?? this.#measured(path);
    this.#contexts.set(path, standing);
    const block = this.#blocks[at];
    if (block?.kind !== "table" || start === block.start) return standing;
    if (this.#tableContext?.block !== block) this.#tableContext = { block, context: this.#withHeader(standing, block) };
    return this.#tableContext.context;
  }

  /** For the later parts of a table that is cut: its header row below the headings. */
  #withHeader(standing: Context, { title: header = "" }: Block): Context {
    const line = standing.line === "" ? header : `${standing.line}\n${header}`;
    const tokens = this.#tokensOf(line);
    return tokens <= this.#options.maxTokens * tableContextShare ? { line, tokens } : standing;
  }

  #measured(path: readonly string[]): Context {
    const most = this.#options.maxTokens * contextShare;
    const line = contextLine(this.#document.title, path, (candidate) => this.#tokensOf(candidate) <= most);
    return line === "" ? noContext : { line, tokens: this.#tokensOf(line) };
  }

  #tokensOf(contextOnly: string): number {
    return this.#options.tokens.count(embeddingText({ context: contextOnly, text: "" }));
  }

  #pointsOf(block: Block): Uint32Array {
    if (this.#cuts?.block !== block) this.#cuts = { block, points: breakPoints(this.#text, block) };
    return this.#cuts.points;
  }

  /** The block that holds `at`, looked for from where the last chunk started. */
  #blockAt(at: number): number {
    let block = this.#blockAtStart;
    while (block < this.#blocks.length && (this.#blocks[block]?.end ?? 0) <= at) block++;
    return block;
  }
}
