// Measures the speed of the local engines, and their search quality on public collections in BEIR layout.
//
// Run: npm run build && npm run build:examples && node build/benchmarks/local.js [folder of collections]
import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { lexicalVector as LexicalVector } from "../src/local/engines/embedding/lexical-embedding.js";
import type { lexicalRerank as LexicalRerank } from "../src/local/engines/rerank/lexical-rerank.js";
import type { defaultTokens as DefaultTokens } from "../src/text/tokens/tokens.js";

// Runs from build/benchmarks, and measures the build as it is shipped.
const built = new URL("../../dist/", import.meta.url);
const { lexicalVector } = (await import(new URL("local/engines/embedding/lexical-embedding.js", built).href)) as {
  lexicalVector: typeof LexicalVector;
};
const { lexicalRerank } = (await import(new URL("local/engines/rerank/lexical-rerank.js", built).href)) as {
  lexicalRerank: typeof LexicalRerank;
};
const { defaultTokens } = (await import(new URL("text/tokens/tokens.js", built).href)) as {
  defaultTokens: typeof DefaultTokens;
};

const root = process.argv[2] ?? "../shared/data";
const passageTokens = 300;
const candidates = 50;
const maxQueries = 200;

console.log(`${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}, ${process.platform} ${process.arch}`);
console.log(`node ${process.argv.slice(1).join(" ")}`);

interface Collection {
  readonly name: string;
  readonly documents: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly { readonly id: string; readonly text: string }[];
  readonly judgements: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

function readLines(path: string): readonly string[] {
  return readFileSync(path, "utf8").trim().split("\n");
}

function collection(name: string): Collection {
  const records = (file: string) =>
    readLines(`${root}/${name}/${file}`).map(
      (line) => JSON.parse(line) as { readonly _id: string; readonly title?: string; readonly text: string },
    );
  const judgements = new Map<string, Map<string, number>>();
  for (const line of readLines(`${root}/${name}/qrels/test.tsv`).slice(1)) {
    const [query = "", document = "", gain = "0"] = line.split("\t");
    judgements.set(query, (judgements.get(query) ?? new Map<string, number>()).set(document, Number(gain)));
  }
  const asked = records("queries.jsonl").filter(({ _id }) => judgements.has(_id));
  const step = Math.max(1, asked.length / maxQueries);
  const queries = Array.from({ length: Math.min(maxQueries, asked.length) }, (_, at) => asked[Math.floor(at * step)]);
  return {
    name,
    documents: records("corpus.jsonl").map(({ _id: id, title = "", text }) => ({ id, text: `${title}\n${text}` })),
    queries: queries.flatMap((query) => query ?? []).map(({ _id: id, text }) => ({ id, text })),
    judgements,
  };
}

/** Judged gain with a discount of log2(rank + 1), divided by that of the best possible order. */
function ndcg10(ranked: readonly string[], judged: ReadonlyMap<string, number>): number {
  const gain = (gains: readonly number[]) =>
    gains.slice(0, 10).reduce((sum, value, rank) => sum + value / Math.log2(rank + 2), 0);
  const best = gain([...judged.values()].toSorted((a, b) => b - a));
  return best === 0 ? 0 : gain(ranked.map((id) => judged.get(id) ?? 0)) / best;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Texts with about as many tokens as a chunk. */
function passages(documents: readonly { readonly text: string }[]): readonly string[] {
  const words = documents.map(({ text }) => text).join("\n");
  const { ends, tokens } = defaultTokens.measure?.(words) ?? { ends: new Uint32Array(), tokens: new Uint32Array() };
  const found: string[] = [];
  let start = 0;
  let before = 0;
  for (const [at, end] of ends.entries()) {
    const count = tokens[at] ?? 0;
    if (count - before < passageTokens) continue;
    found.push(words.slice(start, end));
    start = end;
    before = count;
    if (found.length === 3000) break;
  }
  return found;
}

const names = ["scifact", "cranfield", "squad", "cmrc2018"].filter((name) => existsSync(`${root}/${name}`));
if (names.length === 0) {
  console.error(`No collections in ${root}`);
  process.exitCode = 1;
}

const engine = lexicalRerank();
const { signal } = new AbortController();
const call = {
  model: { id: "rerank", type: "rerank" },
  signal,
  maxChunksPerDocument: 1024,
  overlapTokens: 80,
} as const;

for (const name of names) {
  const { documents, queries, judgements } = collection(name);
  const texts = passages(documents);
  for (const text of texts.slice(0, 500)) lexicalVector(text, 1024);
  const started = performance.now();
  for (const text of texts) lexicalVector(text, 1024);
  const rate = (1000 * texts.length) / (performance.now() - started);

  const vectors = documents.map(({ text }) => lexicalVector(text, 1024));
  const scores = { embedded: 0, reranked: 0 };
  const times: number[] = [];
  for (const { id, text } of queries) {
    const judged = judgements.get(id) ?? new Map<string, number>();
    const asked = lexicalVector(text, 1024);
    const near = vectors
      .map((vector, index) => ({ index, score: vector.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, candidates)
      .map(({ index }) => documents[index] ?? { id: "", text: "" });
    const begun = performance.now();
    const relevance = await engine.score(
      text,
      near.map((document) => document.text),
      call,
    );
    times.push(performance.now() - begun);
    const order = near.map((document, index) => ({ id: document.id, score: relevance[index] ?? 0 }));
    scores.embedded += ndcg10(
      near.map((document) => document.id),
      judged,
    );
    scores.reranked += ndcg10(
      order.toSorted((a, b) => b.score - a.score).map((document) => document.id),
      judged,
    );
  }
  const mean = (total: number) => (total / queries.length).toFixed(3);
  console.log(
    `${name}: ${Math.round(rate)} passages of ${passageTokens} tokens a second; ` +
      `${candidates} documents reranked in ${median(times).toFixed(1)} ms (median); ` +
      `nDCG@10 of ${queries.length} queries ${mean(scores.embedded)} embedded, ${mean(scores.reranked)} reranked`,
  );
}
