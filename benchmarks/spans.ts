/**
 * Measures the effect of chunking on retrieval: how often the whole answer is in the text that a token budget admits, for
 * our splitters and the peers' at the same size and overlap. The same BM25 ranks the chunks of each splitter. From the best
 * on, each chunk that still fits goes into the budget, or the missing part of its parent if parents are read. `semantic`
 * compares sentences with the local service's embedder, which sees words, not meaning.
 *
 *     npm run build:examples && node build/benchmarks/spans.js [data folder] [--strategies structure,fixed,…|all]
 */
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Bm25Index } from "../src/store/lexical/bm25-index.js";
import { NumberedTerms, terms } from "../src/text/words/terms.js";
import { TokenIndex } from "../src/text/chunking/token-index.js";
import { defaultTokens } from "../src/text/tokens/tokens.js";
import type { Span } from "../src/core/types.js";
import { locatedSpans } from "./located-spans.js";
import { ownSplitters, type OwnStrategy, ownStrategies } from "./own-splitters.js";
import { peerSplitters, plainCount } from "./peer-splitters.js";
import { ReadSpans } from "./read-spans.js";
import { articleCollection, joinedCollection, type SpanCollection } from "./span-collections.js";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { strategies: { type: "string" } } });
const folder = positionals[0] ?? "../shared/data";
const strategies = wantedStrategies(values.strategies ?? "structure");
const sizes = [128, 256, 512] as const;
const budgets = [512, 1024, 2048] as const;
const overlapShare = 1 / 8;
/** Length of a ranking: chunks further down never get into a budget. */
const deepest = 250;
const bm25 = { k1: 1.2, b: 0.75 };

interface PlacedChunk extends Span {
  readonly uri: string;
  readonly text: string;
  readonly tokens: number;
  /** The span that is read when this chunk is found. */
  readonly read: Span;
}
type CutSpan = Span & { readonly parent?: Span };
type Split = (text: string) => Promise<readonly CutSpan[]>;

/** Chunks whose place in the text could not be found. */
let lost = 0;

const peers = (await peerSplitters()).filter(({ mediaTypes }) => mediaTypes.includes("text/plain"));
const ours = await ownSplitters(strategies);
const require = createRequire(import.meta.url);
const { version } = require("gpt-tokenizer/package.json") as { version: string };
console.log(`${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, gpt-tokenizer ${version}`);
console.log(`node ${process.argv.slice(1).join(" ")}`);

for (const collection of [articleCollection(join(folder, "squad")), joinedCollection(join(folder, "cmrc2018"), 30)]) {
  const { name, texts, questions } = collection;
  const asked = questions.map(({ text }) => terms(text));
  const indexes = new Map([...texts].map(([uri, text]) => [uri, TokenIndex.of(text, defaultTokens)]));
  console.log(`\n${name}: ${texts.size} texts, ${questions.length} questions; share of answers found whole, in %`);
  for (const size of sizes) {
    const overlap = size * overlapShare;
    console.log(
      `\n${`${size} tokens, overlap ${overlap}`.padEnd(46)}${budgets.map((budget) => `in ${budget}`.padStart(9)).join("")}   chunks  mean tokens  lost`,
    );
    for (const { name: own, readsParents, ofSize } of ours.splitters) {
      await show(own, { ...collection, asked, indexes }, ofSize(size, overlap), readsParents);
    }
    for (const peer of peers) {
      const splitText = peer.ofSize(size, overlap);
      await show(peer.name, { ...collection, asked, indexes }, async (text) => {
        const chunks = await splitText(text);
        const spans = locatedSpans(text, chunks);
        lost += chunks.length - spans.length;
        return spans;
      });
    }
  }
}
await ours.close();

interface AskedCollection extends SpanCollection {
  /** The terms of each question. */
  readonly asked: readonly (readonly string[])[];
  /** By uri. */
  readonly indexes: ReadonlyMap<string, TokenIndex>;
}

async function show(
  name: string,
  { texts, questions, asked, indexes }: AskedCollection,
  splitText: Split,
  readsParents = false,
): Promise<void> {
  lost = 0;
  const chunks: PlacedChunk[] = [];
  for (const [uri, text] of texts) {
    for (const { start, end, parent } of await splitText(text)) {
      const slice = text.slice(start, end);
      const read = (readsParents ? parent : undefined) ?? { start, end };
      chunks.push({ uri, start, end, text: slice, tokens: plainCount(slice), read });
    }
  }
  const index = Bm25Index.empty();
  const words = new NumberedTerms((word) => index.numberOf(word));
  for (const [label, { text }] of chunks.entries()) {
    index.add(label, (add) => words.each(text, (word) => add(word, 1)));
  }
  const found = budgets.map(() => 0);
  for (const [number, { uri, answers }] of questions.entries()) {
    const { labels } = index.search([...asked[number]!], deepest, bm25);
    const ranked = Array.from(labels, (label) => chunks[label]!);
    for (const [at, budget] of budgets.entries()) {
      const read = readsParents ? withParents(ranked, budget, indexes) : withinBudget(ranked, budget);
      const inside = (span: Span & { readonly uri: string }) =>
        span.uri === uri && answers.some(({ start, end }) => span.start <= start && end <= span.end);
      if (read.some(inside)) found[at]!++;
    }
  }
  const shares = found.map((count) => ((100 * count) / questions.length).toFixed(2).padStart(9)).join("");
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0) / chunks.length;
  console.log(
    `${name.padEnd(46)}${shares}${String(chunks.length).padStart(9)}${tokens.toFixed(0).padStart(13)}${String(lost).padStart(6)}`,
  );
}

function withinBudget(ranked: readonly PlacedChunk[], budget: number): readonly PlacedChunk[] {
  let room = budget;
  return ranked.filter(({ tokens }) => {
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
}

function withParents(
  ranked: readonly PlacedChunk[],
  budget: number,
  indexes: ReadonlyMap<string, TokenIndex>,
): readonly (Span & { readonly uri: string })[] {
  const read = new ReadSpans(budget, indexes);
  for (const { uri, read: span } of ranked) read.add(uri, span);
  return read.spans();
}

function wantedStrategies(given: string): readonly OwnStrategy[] {
  const names = given === "all" ? ownStrategies : given.split(",");
  return names.map((name) => {
    const strategy = ownStrategies.find((each) => each === name);
    if (!strategy) throw new Error(`There is no strategy ${name}, only ${ownStrategies.join(", ")}`);
    return strategy;
  });
}
