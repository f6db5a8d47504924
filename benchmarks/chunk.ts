import type { split as Split } from "../src/text/chunking/split.js";
import type { defaultTokens as DefaultTokens } from "../src/text/tokens/tokens.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { shipped } from "./runner/project.js";
import { peerSplitters, plainCount, type SplitterOfSize } from "./shared/peer-splitters.js";

const maxTokens = [256, 512, 8192];
const overlapTokens = 32;
/** Either cuts, or only counts the tokens of a text, which every splitter with exact limits has to do. */
type Subject = SplitterOfSize | { readonly countOnly: (text: string) => number };

const citewell: Contender<Subject> = {
  name: "citewell",
  kind: "citewell",
  load: async () => {
    const { split } = await shipped<{ readonly split: typeof Split }>("text/chunking/split.js");
    const { defaultTokens } = await shipped<{ readonly defaultTokens: typeof DefaultTokens }>("text/tokens/tokens.js");
    return (size, overlap) => (text) => {
      const options = { maxTokens: size, overlapTokens: overlap, parentTokens: 1024, tokens: defaultTokens };
      return [...split({ uri: "memo:1", text, mediaType: "text/markdown" }, options)].map((chunk) => chunk.text);
    };
  },
};

export const benchmark: Benchmark<Subject> = {
  name: "chunk",
  question: "How fast is real Markdown cut into chunks of an exact number of tokens?",
  method:
    "All splitters count with the vocabulary cl100k_base and have the same size and overlap; the limit is one plain pass of " +
    "gpt-tokenizer over the same text, which counts and does not cut. Figures are of CPU time, so that neither other load nor " +
    "more threads help. Each splitter works for `warmingSeconds` of CPU before it is timed, to compile and to fill caches of words, " +
    "which the tokenizer keeps for all of them and citewell once more; then it goes over all texts until `measuringSeconds` of CPU are " +
    "spent, once at least, and the fastest pass counts, for the limit as for the others. A result with an empty or too long chunk, or " +
    "with words missing, fails.",
  contenders: [
    {
      name: "one tokenizer pass",
      kind: "limit",
      load: async () => ({ countOnly: plainCount }),
    },
    citewell,
    ...Object.values(peerSplitters),
  ],
  beside: "one tokenizer pass",
  measures: {
    ...Object.fromEntries(
      maxTokens.map((size) => [`${size} tokens`, { unit: "million characters/CPU s", better: "higher" }]),
    ),
    "chunks at 512": { unit: "chunks", better: "lower" },
  },
  sizes: {
    smoke: { share: 0.02, warmingSeconds: 0.1, measuringSeconds: 0 },
    usual: { share: 1, warmingSeconds: 2, measuringSeconds: 3 },
  },
  rounds: 3,
  aims: aimsOf("chunk"),
  corpus: "markdown",
  measure: measureSplitting,
};

async function measureSplitting(subject: Subject, { size, corpus, timed }: RunContext<undefined>) {
  const texts = readMarkdown(corpus, size["share"]).map(({ text }) => text);
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const measures: Record<string, number> = {};
  for (const most of maxTokens) {
    const cut = "countOnly" in subject ? subject.countOnly : subject(most, overlapTokens);
    // Counted in CPU time, because a busy machine compiles and caches less in the same seconds.
    const warmUntil = process.cpuUsage().user + size["warmingSeconds"]! * 1e6;
    for (let at = 0; process.cpuUsage().user < warmUntil; at++) await cut(texts[at % texts.length]!);
    let made: (readonly string[])[] = [];
    let [fastest, spent] = [Infinity, 0];
    do {
      made = [];
      const { cpuSeconds } = await timed(async () => {
        for (const text of texts) {
          const chunks = await cut(text);
          if (typeof chunks !== "number") made.push(chunks);
        }
      });
      fastest = Math.min(fastest, cpuSeconds);
      spent += cpuSeconds;
    } while (spent < size["measuringSeconds"]!);
    measures[`${most} tokens`] = characters / 1e6 / fastest;
    if ("countOnly" in subject) continue;
    for (const [at, chunks] of made.entries()) checkChunks(texts[at]!, chunks, most);
    if (most === 512) measures["chunks at 512"] = made.flat().length;
  }
  return measures;
}

/** Splitters may trim white space and exceed the limit a little, but not leave out what was written. */
function checkChunks(text: string, chunks: readonly string[], most: number): void {
  const longest = chunks.reduce((max, chunk) => Math.max(max, plainCount(chunk)), 0);
  if (longest > 1.5 * most) throw new Error(`a chunk has ${longest} tokens; ${most} were asked for`);
  const written = lettersIn([text]);
  const kept = lettersIn(chunks);
  if (kept < 0.9 * written) throw new Error(`of ${written} characters that are no white space, ${kept} are in chunks`);
}

function lettersIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.replace(/\s+/g, "").length, 0);
}
