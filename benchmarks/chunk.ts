/**
 * Chunking real Markdown, against one plain pass of the same tokenizer over the same text.
 *
 *     npm run build:examples && node build/benchmarks/chunk.js [folder of .md files]
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { split } from "../src/text/split.js";
import { defaultTokens } from "../src/text/tokens.js";

const runs = 7;
const folder = process.argv[2] ?? "../shared/data/docs-corpus";
const require = createRequire(import.meta.url);
const { countTokens } =
  require("gpt-tokenizer/encoding/cl100k_base") as typeof import("gpt-tokenizer/encoding/cl100k_base");
const plainText = { disallowedSpecial: new Set<string>() };

const documents = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ uri: name, text: readFileSync(join(folder, name), "utf8"), mediaType: "text/markdown" }));
const characters = documents.reduce((total, { text }) => total + text.length, 0);

const ways: Readonly<Record<string, () => number>> = {
  "one plain pass of gpt-tokenizer": () => sum(({ text }) => countTokens(text, plainText)),
  "one pass of defaultTokens": () => sum(({ text }) => defaultTokens.count(text)),
  "split at 256 tokens": () => sum((document) => chunkCount(document, 256)),
  "split at 512 tokens": () => sum((document) => chunkCount(document, 512)),
  "split at 8192 tokens": () => sum((document) => chunkCount(document, 8192)),
};

console.log(
  `${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, gpt-tokenizer ${version("gpt-tokenizer")}`,
);
console.log(`node ${process.argv.slice(1).join(" ")}`);
console.log(
  `${documents.length} files, ${(characters / 1e6).toFixed(2)} million characters; median of ${runs} runs in turn`,
);

const seconds = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]));
const counts = new Map<string, number>();
// In turn, so that what else the machine does falls on all of them; the first round warms up.
for (let round = 0; round <= runs; round++) {
  for (const [name, way] of Object.entries(ways)) {
    const startedAt = performance.now();
    counts.set(name, way());
    if (round > 0) seconds.get(name)?.push((performance.now() - startedAt) / 1000);
  }
}

const plain = median(seconds.get("one plain pass of gpt-tokenizer") ?? []);
for (const [name, taken] of seconds) {
  const typical = median(taken);
  const speed = `${(characters / 1e6 / typical).toFixed(1)} million characters/s`.padStart(28);
  console.log(`${name.padEnd(34)}${speed}   ${(plain / typical).toFixed(2)} × plain   ${counts.get(name)} counted`);
}

function chunkCount(document: (typeof documents)[number], maxTokens: number): number {
  return [...split(document, { maxTokens, overlapTokens: 32, tokens: defaultTokens })].length;
}

function sum(count: (document: (typeof documents)[number]) => number): number {
  return documents.reduce((total, document) => total + count(document), 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function version(name: string): string {
  return (require(`${name}/package.json`) as { version: string }).version;
}
