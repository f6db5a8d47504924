/**
 * A peer and a corpus of one's own, in the comparison of splitters: copy this file, put what you want to compare in the
 * place of `blankLines`, and name your folder of Markdown.
 *
 *     npm run bench -- build/benchmarks/own-peer.js --corpus DIR
 */
import { benchmark as chunk } from "./chunk.js";
import type { Contender } from "./runner/benchmark.js";
import { plainCount, type SplitterOfSize } from "./shared/peer-splitters.js";

const blankLines: Contender<SplitterOfSize> = {
  name: "blank lines",
  kind: "peer",
  load: async () => (maxTokens) => (text) => {
    const chunks = [""];
    // A block that is too long is cut anywhere, into pieces that no vocabulary makes more than maxTokens of.
    const pieces = new RegExp(`[^]{1,${Math.ceil(maxTokens / 3)}}`, "gu");
    const blocks = text.split(/(?<=\n\n)/);
    for (const block of blocks.flatMap((each) => (plainCount(each) <= maxTokens ? each : each.match(pieces)!))) {
      const longer = chunks.at(-1)! + block;
      if (plainCount(longer) <= maxTokens) chunks[chunks.length - 1] = longer;
      else chunks.push(block);
    }
    return chunks;
  },
};

export const benchmark: typeof chunk = {
  ...chunk,
  name: "own-peer",
  contenders: [...chunk.contenders.filter(({ kind }) => kind !== "peer"), blankLines],
};
