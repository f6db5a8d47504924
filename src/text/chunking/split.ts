import { OptionsError } from "../../core/errors.js";
import type { Chunk, Document } from "../../core/types.js";
import { type Context, noContext } from "./chunk-context.js";
import { chunkId, embeddingText } from "./chunk-identity.js";
import type { Cuts, MeasuredText, SplitOptions } from "./cuts.js";
import { FixedCuts } from "./fixed-cuts.js";
import { measureText } from "./measure-text.js";
import { SentenceWindowCuts } from "./sentence-window-cuts.js";
import { StructureCuts } from "./structure-cuts.js";

/** Strategies that need only the text. */
const strategies = {
  structure: StructureCuts,
  fixed: FixedCuts,
  "sentence-window": SentenceWindowCuts,
} as const satisfies Readonly<Record<Strategy, object>>;

export type Strategy = "structure" | "fixed" | "sentence-window";

/**
 * Chunks of a document in order: spans that together cover its text, none with more tokens than `maxTokens`. A blank
 * document has none. Linear in the length of the text, which is counted once as a whole, and again where the first count does not give
 * the chunk's tokens.
 *
 * @throws OptionsError when a single character takes more than `maxTokens`.
 * @internal
 */
export function* split(document: Document, options: SplitOptions, strategy: Strategy = "structure"): Generator<Chunk> {
  for (const chunk of splitInSteps(document, options, strategy)) if (chunk) yield chunk;
}

/**
 * Splits like `split`, but yields `undefined` now and then while it measures a long text, so that other work can run.
 * @internal
 */
export function* splitInSteps(
  document: Document,
  options: SplitOptions,
  strategy: Strategy = "structure",
): Generator<Chunk | undefined> {
  if (document.text.trim() === "") return;
  const measured: MeasuredText = yield* measureText(document, options.tokens);
  yield* splitBy(document, options, new strategies[strategy](document, measured, options));
}

/** Cuts a text that is not blank where `cuts` says. @internal */
export function* splitBy(document: Document, options: SplitOptions, cuts: Cuts): Generator<Chunk> {
  const splitter = new Splitter(document, options, cuts);
  for (let start = 0, covered = 0; covered < document.text.length;) {
    const chunk = splitter.chunkFrom(start, covered);
    const next = cuts.nextStart(chunk.start, chunk.end);
    yield chunk;
    start = next;
    covered = chunk.end;
  }
}

/** Keeps the promises of every strategy: no gap, no endless loop, no chunk over the limit as it is sent. */
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

  /** The chunk that starts at `start` and reaches beyond `covered`, the end of the chunks before it. */
  chunkFrom(start: number, covered: number): Chunk {
    const context = this.#cuts.contextAt(start);
    const chunk =
      this.#fitted(start, covered, context) ??
      this.#fitted(covered, covered, context) ??
      this.#fitted(covered, covered, noContext);
    if (chunk) return chunk;
    const { maxTokens, tokens } = this.#options;
    throw new OptionsError(
      "options",
      `split: the character at ${covered} of ${this.#document.uri} has more than maxTokens (${maxTokens}) tokens of ${tokens.name}. Set a larger maxTokens`,
    );
  }

  /** The chunk from `start`; `undefined` if not even one character beyond `covered` fits. */
  #fitted(start: number, covered: number, context: Context): Chunk | undefined {
    const { maxTokens, tokens: counter } = this.#options;
    const { uri, text: whole } = this.#document;
    let budget = maxTokens - context.tokens;
    while (budget > 0) {
      const end = this.#cuts.end(start, covered, budget);
      const text = whole.slice(start, end);
      const embedded = embeddingText({ context: context.line, text });
      const own = this.#cuts.tokensOf({ start, end });
      const tokens = own === undefined ? counter.count(embedded) : context.tokens + own;
      if (tokens <= maxTokens) {
        // An id is made of UTF-8, where all lone surrogates are the same.
        const sent = embedded.toWellFormed();
        const occurrence = this.#occurrences.get(sent) ?? 0;
        this.#occurrences.set(sent, occurrence + 1);
        const id = chunkId(uri, embedded, occurrence);
        const chunk = { id, documentId: uri, start, end, text, context: context.line, tokens };
        const parent = this.#cuts.parentOf(chunk);
        return parent ? { ...chunk, parent } : chunk;
      }
      budget -= Math.max(tokens - maxTokens, Math.ceil(budget / 16));
    }
    return undefined;
  }
}
