import type { TokenIndex } from "../../src/text/chunking/token-index.js";
import type { Span } from "../../src/core/types.js";

/** Spans of several texts, read within a token budget. Overlapping parts are read, and counted, once. */
export class ReadSpans {
  readonly #indexes: ReadonlyMap<string, TokenIndex>;
  readonly #read = new Map<string, readonly Span[]>();
  #room: number;

  constructor(budget: number, indexes: ReadonlyMap<string, TokenIndex>) {
    this.#room = budget;
    this.#indexes = indexes;
  }

  /** Reads a span if what it adds still fits, and joins it with those that it touches. */
  add(uri: string, span: Span): void {
    const index = this.#indexes.get(uri)!;
    const before = this.#read.get(uri) ?? [];
    const touching = before.filter(({ start, end }) => start <= span.end && span.start <= end);
    const joined = {
      start: Math.min(span.start, ...touching.map(({ start }) => start)),
      end: Math.max(span.end, ...touching.map(({ end }) => end)),
    };
    const added = touching.reduce(
      (sum, { start, end }) => sum - index.between(start, end),
      index.between(joined.start, joined.end),
    );
    if (added > this.#room) return;
    this.#room -= added;
    this.#read.set(uri, [...before.filter((each) => !touching.includes(each)), joined]);
  }

  spans(): readonly (Span & { readonly uri: string })[] {
    return [...this.#read].flatMap(([uri, spans]) => spans.map((span) => ({ ...span, uri })));
  }
}
