import type { TokenCounter } from "../ports.js";
import type { Span } from "../types.js";

export interface SurroundingsLimits {
  /** The span stays inside this one. */
  readonly within: Span;
  /** Most tokens of the span. A span that has more to begin with stays as it is. */
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
}

/**
 * A span with the sentences around it, behind and before it in turn, as many as fit.
 *
 * @param sentences of the text, in order.
 */
export function surroundings(
  text: string,
  span: Span,
  sentences: readonly Span[],
  { within, maxTokens, tokens }: SurroundingsLimits,
): Span {
  const count = ({ start, end }: Span) => tokens.count(text.slice(start, end));
  const inside = sentences.filter(({ start, end }) => start >= within.start && end <= within.end);
  const behind = inside.filter(({ end }) => end > span.end).map(({ end }) => end);
  const before = inside
    .filter(({ start }) => start < span.start)
    .map(({ start }) => start)
    .toReversed();
  const history: Span[] = [span];
  let widened = span;
  let used = count(span);
  for (let turn = 0; used <= maxTokens && (behind.length > 0 || before.length > 0); turn++) {
    const forward = before.length === 0 || (turn % 2 === 0 && behind.length > 0);
    const next = forward
      ? { start: widened.start, end: behind.shift()! }
      : { start: before.shift()!, end: widened.end };
    // Pieces counted apart: quick, and set right below.
    used += forward ? count({ start: widened.end, end: next.end }) : count({ start: next.start, end: widened.start });
    widened = next;
    history.push(widened);
  }
  while (history.length > 1 && count(history.at(-1)!) > maxTokens) history.pop();
  return history.at(-1)!;
}
