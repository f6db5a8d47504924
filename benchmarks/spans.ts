/**
 * What a chunker does to retrieval: how often the whole answer stands in one of the chunks that a budget of tokens holds,
 * ours beside the peers' at the same size and overlap. One and the same BM25 ranks the chunks' texts of each splitter;
 * from the best on, each chunk that still fits goes into the budget.
 *
 *     npm run build:examples && node build/benchmarks/spans.js [data folder]
 */
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { Bm25Index } from "../src/store/lexical/bm25-index.js";
import { split } from "../src/text/split.js";
import { terms } from "../src/text/terms.js";
import { defaultTokens } from "../src/text/tokens.js";
import type { Span } from "../src/types.js";
import { locatedSpans } from "./located-spans.js";
import { peerSplitters, plainCount } from "./peer-splitters.js";
import { articleCollection, joinedCollection, type SpanCollection } from "./span-collections.js";

const folder = process.argv[2] ?? "../shared/data";
const sizes = [128, 256, 512] as const;
const budgets = [512, 1024, 2048] as const;
const overlapShare = 1 / 8;
/** Of a ranking: chunks further down do not come into a budget. */
const deepest = 60;
const bm25 = { k1: 1.2, b: 0.75 };

interface PlacedChunk extends Span {
  readonly uri: string;
  readonly text: string;
  readonly tokens: number;
}
/** Chunks whose place in the text could not be told. */
let lost = 0;
type Split = (text: string) => Promise<readonly Span[]>;

const peers = (await peerSplitters()).filter(({ mediaTypes }) => mediaTypes.includes("text/plain"));
const require = createRequire(import.meta.url);
const { version } = require("gpt-tokenizer/package.json") as { version: string };
console.log(`${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, gpt-tokenizer ${version}`);
console.log(`node ${process.argv.slice(1).join(" ")}`);

for (const collection of [articleCollection(join(folder, "squad")), joinedCollection(join(folder, "cmrc2018"), 30)]) {
  const { name, texts, questions } = collection;
  console.log(`\n${name}: ${texts.size} texts, ${questions.length} questions; share of answers found whole, in %`);
  for (const size of sizes) {
    const overlap = size * overlapShare;
    console.log(
      `\n${`${size} tokens, overlap ${overlap}`.padEnd(46)}${budgets.map((budget) => `in ${budget}`.padStart(9)).join("")}   chunks  mean tokens  lost`,
    );
    await show("ours", collection, async (text) => ours(text, size, overlap));
    for (const peer of peers) {
      const splitText = peer.ofSize(size, overlap);
      await show(peer.name, collection, async (text) => {
        const chunks = await splitText(text);
        const spans = locatedSpans(text, chunks);
        lost += chunks.length - spans.length;
        return spans;
      });
    }
  }
}

function ours(text: string, maxTokens: number, overlapTokens: number): readonly Span[] {
  return [...split({ uri: "memo:1", text }, { maxTokens, overlapTokens, tokens: defaultTokens })];
}

async function show(name: string, { texts, questions }: SpanCollection, splitText: Split): Promise<void> {
  lost = 0;
  const chunks: PlacedChunk[] = [];
  for (const [uri, text] of texts) {
    for (const { start, end } of await splitText(text)) {
      const slice = text.slice(start, end);
      chunks.push({ uri, start, end, text: slice, tokens: plainCount(slice) });
    }
  }
  const index = Bm25Index.empty();
  for (const [label, { text }] of chunks.entries()) index.add(label, frequencies(terms(text)));
  const found = budgets.map(() => 0);
  for (const { text, uri, answers } of questions) {
    const { labels } = index.search(terms(text), deepest, bm25);
    const ranked = Array.from(labels, (label) => chunks[label]!);
    for (const [at, budget] of budgets.entries()) {
      const inside = (chunk: PlacedChunk) =>
        chunk.uri === uri && answers.some(({ start, end }) => chunk.start <= start && end <= chunk.end);
      if (withinBudget(ranked, budget).some(inside)) found[at]!++;
    }
  }
  const shares = found.map((count) => ((100 * count) / questions.length).toFixed(2).padStart(9)).join("");
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0) / chunks.length;
  console.log(
    `${name.padEnd(46)}${shares}${String(chunks.length).padStart(9)}${tokens.toFixed(0).padStart(13)}${String(lost).padStart(6)}`,
  );
}

function withinBudget(ranked: readonly PlacedChunk[], budget: number): PlacedChunk[] {
  let room = budget;
  return ranked.filter(({ tokens }) => {
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
}

function frequencies(words: readonly string[]): Map<string, number> {
  const counted = new Map<string, number>();
  for (const word of words) counted.set(word, (counted.get(word) ?? 0) + 1);
  return counted;
}
