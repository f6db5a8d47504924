import type { TokenRun } from "./align-tokens.js";

/**
 * The stretch of at most twice the length of `wanted` with the most of its distinct words, if they are at least `share` of
 * them; it begins and ends with one of them. One pass.
 */
export function nearestWindow(
  wanted: readonly string[],
  words: readonly string[],
  share: number,
): TokenRun | undefined {
  const distinct = new Set(wanted);
  const width = Math.max(2 * wanted.length, 12);
  const held = new Map<string, number>();
  let best = { held: Math.ceil(distinct.size * share - 1e-9) - 1, from: 0, to: 0 };
  for (const [index, word] of words.entries()) {
    const leaving = words[index - width];
    const count = leaving === undefined ? undefined : held.get(leaving);
    if (count === 1) held.delete(leaving!);
    else if (count !== undefined) held.set(leaving!, count - 1);
    if (!distinct.has(word)) continue;
    held.set(word, (held.get(word) ?? 0) + 1);
    if (held.size > best.held) best = { held: held.size, from: Math.max(0, index - width + 1), to: index + 1 };
  }
  let { from } = best;
  while (from < best.to && !distinct.has(words[from]!)) from++;
  return best.to > from ? { from, to: best.to } : undefined;
}
