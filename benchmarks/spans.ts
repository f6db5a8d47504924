import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Span } from "../src/core/types.js";
import type { Bm25Index as Bm25 } from "../src/store/lexical/bm25-index.js";
import type * as Terms from "../src/text/words/terms.js";
import type { TokenIndex as Tokens } from "../src/text/chunking/token-index.js";
import type { defaultTokens as DefaultTokens } from "../src/text/tokens/tokens.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { shipped } from "./runner/project.js";
import { plainCount } from "./shared/peer-splitters.js";
import { ReadSpans } from "./spans/read-spans.js";
import { articleCollection, joinedCollection, type SpanCollection } from "./spans/span-collections.js";
import { type SpanSplitter, spanSplitters } from "./spans/splitters.js";

const maxTokens = [128, 256, 512];
const overlapShare = 1 / 8;
/** Length of a ranking: chunks further down never get into a budget. */
const deepest = 250;
const bm25 = { k1: 1.2, b: 0.75 };
const paragraphsPerText = 30;

export const benchmark: Benchmark<SpanSplitter> = {
  name: "spans",
  question: "How often do the chunks that fit into a prompt hold the whole answer?",
  method:
    "Questions of SQuAD about whole articles, and of CMRC 2018 about 30 paragraphs joined to a text, in Chinese, with the places " +
    "of their answers. The same BM25 ranks the chunks of every splitter, all of one size with an eighth of overlap. From the " +
    "best on, each chunk that still fits goes into the budget of tokens, or the missing part of its parent where parents are " +
    "read. Nothing is random, so one round is enough. `semantic` compares sentences with the local service's embedder, which " +
    "sees words, not meaning. Overlap helps small budgets less than large ones; a chunk whose place cannot be found holds nothing.",
  contenders: spanSplitters,
  beside: "citewell, structure",
  measures: Object.fromEntries(
    ["SQuAD", "CMRC"].flatMap((name) =>
      maxTokens.map((size) => [`${name} at ${size}`, { unit: "%", better: "higher" }]),
    ),
  ),
  sizes: { smoke: { texts: 2, budgetTokens: 512 }, usual: { texts: 1000, budgetTokens: 512 } },
  rounds: 1,
  corpus: "collection",
  unavailable: (corpus) =>
    ["squad/articles.jsonl", "cmrc2018/corpus.jsonl"].every((file) => existsSync(join(corpus, file)))
      ? undefined
      : `${corpus} has no folders squad and cmrc2018; name their parent with --corpus`,
  measure: measureSpans,
};

interface PlacedChunk extends Span {
  readonly uri: string;
  readonly text: string;
  readonly tokens: number;
  /** The span that is read when this chunk is found. */
  readonly read: Span;
}

async function measureSpans(subject: SpanSplitter, { size, corpus, timed }: RunContext<undefined>) {
  const collections = {
    SQuAD: articleCollection(join(corpus, "squad")),
    CMRC: joinedCollection(join(corpus, "cmrc2018"), paragraphsPerText),
  };
  const measures: Record<string, number> = {};
  for (const [name, collection] of Object.entries(collections)) {
    const part = firstTexts(collection, size["texts"]!);
    for (const most of maxTokens) {
      const split = subject.ofSize(most, most * overlapShare);
      const { result: chunks } = await timed(() => placedChunks(part, split, subject.readsParents));
      measures[`${name} at ${most}`] =
        100 * (await shareFound(part, chunks, size["budgetTokens"]!, subject.readsParents));
    }
  }
  return measures;
}

function firstTexts({ name, texts, questions }: SpanCollection, count: number): SpanCollection {
  const kept = new Map([...texts].slice(0, count));
  return { name, texts: kept, questions: questions.filter(({ uri }) => kept.has(uri)) };
}

async function placedChunks(
  { texts }: SpanCollection,
  split: ReturnType<SpanSplitter["ofSize"]>,
  readsParents: boolean,
): Promise<readonly PlacedChunk[]> {
  const chunks: PlacedChunk[] = [];
  for (const [uri, text] of texts) {
    for (const { start, end, parent } of await split(text)) {
      const slice = text.slice(start, end);
      const read = (readsParents ? parent : undefined) ?? { start, end };
      chunks.push({ uri, start, end, text: slice, tokens: plainCount(slice), read });
    }
  }
  return chunks;
}

/** The share of the questions whose whole answer is in what the budget admits. */
async function shareFound(
  { texts, questions }: SpanCollection,
  chunks: readonly PlacedChunk[],
  budget: number,
  readsParents: boolean,
): Promise<number> {
  const { Bm25Index } = await shipped<{ readonly Bm25Index: typeof Bm25 }>("store/lexical/bm25-index.js");
  const { NumberedTerms, termCounts } = await shipped<typeof Terms>("text/words/terms.js");
  const { TokenIndex } = await shipped<{ readonly TokenIndex: typeof Tokens }>("text/chunking/token-index.js");
  const { defaultTokens } = await shipped<{ readonly defaultTokens: typeof DefaultTokens }>("text/tokens/tokens.js");
  const indexes = readsParents
    ? new Map([...texts].map(([uri, text]) => [uri, TokenIndex.of(text, defaultTokens)]))
    : new Map<string, Tokens>();
  const index = new Bm25Index();
  const words = new NumberedTerms((word) => index.numberOf(word));
  // Labels begin at 1, as a store's do.
  for (const [at, { text }] of chunks.entries()) {
    index.add(at + 1, (add) => words.each(text, (word) => add(word, 1)));
  }
  const found = questions.filter(({ text, uri, answers }) => {
    const { labels } = index.search(termCounts(text), deepest, bm25);
    const ranked = Array.from(labels, (label) => chunks[label - 1]!);
    const read = readsParents ? withParents(ranked, budget, indexes) : withinBudget(ranked, budget);
    return read.some(
      (span) => span.uri === uri && answers.some(({ start, end }) => span.start <= start && end <= span.end),
    );
  });
  return found.length / questions.length;
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
  indexes: ReadonlyMap<string, Tokens>,
): readonly (Span & { readonly uri: string })[] {
  const read = new ReadSpans(budget, indexes);
  for (const { uri, read: span } of ranked) read.add(uri, span);
  return read.spans();
}
