import { OptionsError } from "../errors.js";
import type { Chunk, Document } from "../types.js";
import { type Context, noContext } from "./chunk-context.js";
import { chunkId, embeddingText } from "./chunk-identity.js";
import type { Cuts, MeasuredText, SplitOptions } from "./cuts.js";
import { FixedCuts } from "./fixed-cuts.js";
import { measureText } from "./measure-text.js";
import { SentenceWindowCuts } from "./sentence-window-cuts.js";
import { StructureCuts } from "./structure-cuts.js";

/** Strategies that need nothing but the text. */
const strategies = { structure: StructureCuts, fixed: FixedCuts, "sentence-window": SentenceWindowCuts } as const;

export type Strategy = keyof typeof strategies;

/**
 * Chunks of a document in order: spans that together cover its text, none with more tokens than `maxTokens`. A blank
 * document has none. Linear in the length of the text: it is counted once as a whole, and each chunk once as it is sent.
 *
 * @throws OptionsError when a single character takes more than `maxTokens`.
 */
export function* split(document: Document, options: SplitOptions, strategy: Strategy = "structure"): Generator<Chunk> {
  for (const chunk of splitInSteps(document, options, strategy)) if (chunk) yield chunk;
}

/** As `split`, with `undefined` now and then while a long text is measured, so that the caller can let others work. */
export function* splitInSteps(
  document: Document,
  options: SplitOptions,
  strategy: Strategy = "structure",
): Generator<Chunk | undefined> {
  if (document.text.trim() === "") return;
  const measured: MeasuredText = yield* measureText(document, options.tokens);
  yield* splitBy(document, options, new strategies[strategy](document, measured, options));
}

/** Chunks where `cuts` says; the text must not be blank. */
export function* splitBy(document: Document, options: SplitOptions, cuts: Cuts): Generator<Chunk> {
  const splitter = new Splitter(document, options, cuts);
  let placed: Placed | undefined = splitter.from(0, 0);
  for (; placed; placed = splitter.after(placed)) yield placed.chunk;
}

interface Placed {
  readonly chunk: Chunk;
  /** Where the next chunk starts: the end, or before it by the overlap. */
  readonly next: number;
}

/** Keeps what every strategy promises: no gap, no standstill, no chunk over the limit as it is sent. */
class Splitter {
  readonly #document: Document;
  readonly #options: SplitOptions;
  readonly #cuts: Cuts;
  readonly #occurrences = new Map<string, number>();

  constructor(document: Document, options: SplitOptions, cuts: Cuts) {
    this.#document = document;
    this.#options = options;
    this.#cuts = cuts;
  }

  after({ chunk, next }: Placed): Placed | undefined {
    return chunk.end < this.#document.text.length ? this.from(next, chunk.end) : undefined;
  }

  /** The chunk that starts at `start` and reaches beyond `covered`, up to where the chunks before it go. */
  from(start: number, covered: number): Placed {
    const context = this.#cuts.contextAt(start);
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
    const { uri, text: whole } = this.#document;
    let budget = maxTokens - context.tokens;
    while (budget > 0) {
      const end = this.#cuts.end(start, covered, budget);
      const text = whole.slice(start, end);
      const embedded = embeddingText({ context: context.line, text });
      const tokens = counter.count(embedded);
      if (tokens <= maxTokens) {
        const occurrence = this.#occurrences.get(embedded) ?? 0;
        this.#occurrences.set(embedded, occurrence + 1);
        const id = chunkId(uri, embedded, occurrence);
        const chunk = { id, documentId: uri, start, end, text, context: context.line, tokens };
        const parent = this.#cuts.parentOf(chunk);
        return { chunk: parent ? { ...chunk, parent } : chunk, next: this.#cuts.nextStart(start, end) };
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
}
