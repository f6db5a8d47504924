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
    for (const block of text.split(/(?<=\n\n)/)) {
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
