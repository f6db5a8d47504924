import type { TokenCounter } from "../../core/ports.js";
import type { Document, Hit, Span } from "../../core/types.js";
import { placeInDocument } from "../blocks/places.js";
import { embeddingText } from "../chunking/chunk-identity.js";

/** Whether the document still has the chunk's text at its span; it may have been replaced since the search. */
export function isCurrent({ chunk: { start, end, text } }: Hit, document: Document | undefined): document is Document {
  return document?.text.slice(start, end) === text;
}

/**
 * The hit with a wider span of its document: text and place become those of the span, the chunk's id stays. The span that
 * the search found is kept in `matched`.
 */
export function widenHit(hit: Hit, document: Document, { start, end }: Span, tokens: TokenCounter): Hit {
  const { chunk } = hit;
  const matched = hit.matched ?? [{ start: chunk.start, end: chunk.end }];
  if (start === chunk.start && end === chunk.end) return { ...hit, matched };
  const text = document.text.slice(start, end);
  const { line: _, page: __, seconds: ___, picture: ____, anchors: _____, ...rest } = hit;
  const { anchors } = document;
  return {
    ...rest,
    ...placeInDocument(document, start),
    ...(anchors && {
      anchors: anchors
        .filter((anchor) => anchor.start >= start && anchor.start < end)
        .map(({ wordBoxes: ______, ...anchor }) => anchor),
    }),
    chunk: { ...chunk, start, end, text, tokens: tokens.count(embeddingText({ context: chunk.context, text })) },
    matched,
  };
}

export interface SurroundingsLimits {
  /** The span stays inside this one. */
  readonly within: Span;
  /** Maximum tokens of the span. A span that already has more stays as it is. */
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
}

/**
 * A span widened by the sentences after and before it in turn, as many as fit.
 *
 * @param sentences all sentences of the text, in order.
 */
export function surroundings(
  text: string,
  span: Span,
  sentences: readonly Span[],
  { within, maxTokens, tokens }: SurroundingsLimits,
): Span {
  const count = ({ start, end }: Span) => tokens.count(text.slice(start, end));
  const inside = sentences.filter(({ start, end }) => start >= within.start && end <= within.end);
  const after = inside.filter(({ end }) => end > span.end).map(({ end }) => end);
  const before = inside.filter(({ start }) => start < span.start).map(({ start }) => start);
  const steps: Span[] = [span];
  let used = count(span);
  for (let turn = 0; used <= maxTokens && (after.length > 0 || before.length > 0); turn++) {
    const { start, end } = steps.at(-1)!;
    const forward = before.length === 0 || (turn % 2 === 0 && after.length > 0);
    const next = forward ? { start, end: after.shift()! } : { start: before.pop()!, end };
    // The sum of the pieces is an estimate; the span as a whole is counted below.
    used += forward ? count({ start: end, end: next.end }) : count({ start: next.start, end: start });
    steps.push(next);
  }
  while (steps.length > 1 && count(steps.at(-1)!) > maxTokens) steps.pop();
  return steps.at(-1)!;
}
