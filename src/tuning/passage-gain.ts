import type { Hit } from "../core/types.js";
import type { PassageQuestion } from "../evaluate/evaluate-passages.js";
import { holdsAnswer } from "../evaluate/metrics.js";

/** Size of a chunk by default: ranks are counted in texts of this size, so that chunks of other sizes compare. */
const standardTokens = 384;

/** Tokens of the passages that an answer is made from: six of the standard size. What stands behind them is not read. */
export const readTokens = 6 * standardTokens;

/**
 * How early a reader of the hits meets the passages that answer, 0 to 1: 1 / log2(2 + rank) for each, as in nDCG, where the rank counts
 * the tokens above it in texts of 384 instead of hits, and a longer chunk stands where its middle is. Otherwise one long
 * chunk would rank as well as the short one that answers.
 */
export function passageGain(
  { passages }: Pick<PassageQuestion, "passages">,
  hits: readonly { readonly chunk: Pick<Hit["chunk"], "text" | "tokens"> }[],
): number {
  let above = 0;
  const placed = hits.map(({ chunk }) => {
    const position = above + Math.max(0, chunk.tokens - standardTokens) / 2;
    above += chunk.tokens;
    return { text: chunk.text, position };
  });
  const read = placed.filter(({ position }) => position < readTokens);
  const gains = passages.map((places) => {
    const quotes = places.map(({ quote }) => quote);
    const found = read.find(({ text }) => holdsAnswer(text, quotes));
    return found ? 1 / Math.log2(2 + found.position / standardTokens) : 0;
  });
  return gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, gains.length);
}
