/**
 * Chunking real Markdown, ours beside the peers' with the same tokenizer, size and overlap, against one plain pass of that
 * tokenizer over the same text. CPU time of this process, best of the runs: on a busy machine the clock tells of others.
 *
 *     npm run build:examples && node build/benchmarks/chunk.js [folder of .md files] [share of the files, 0 to 1]
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { split } from "../src/text/split.js";
import { defaultTokens } from "../src/text/tokens.js";
import { peerSplitters, plainCount } from "./peer-splitters.js";

/** Rounds after the first, which warms up; the peers, being slow, take part in fewer. */
const runs = 7;
const peerRuns = 2;
const overlapTokens = 32;
const folder = process.argv[2] ?? "../shared/data/docs-corpus";
const require = createRequire(import.meta.url);
const share = Number(process.argv[3] ?? 1);

const documents = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .toSorted()
  .filter((_, index) => Math.floor((index + 1) * share) > Math.floor(index * share))
  .map((name) => ({ uri: name, text: readFileSync(join(folder, name), "utf8"), mediaType: "text/markdown" }));
const characters = documents.reduce((total, { text }) => total + text.length, 0);

const plainPass = "one plain pass of gpt-tokenizer";
const ways: Readonly<Record<string, () => number | Promise<number>>> = {
  [plainPass]: () => sum(({ text }) => plainCount(text)),
  "one pass of defaultTokens": () => sum(({ text }) => defaultTokens.count(text)),
  "ours, 256 tokens": () => sum((document) => chunkCount(document, 256)),
  "ours, 512 tokens": () => sum((document) => chunkCount(document, 512)),
  "ours, 8192 tokens": () => sum((document) => chunkCount(document, 8192)),
};
const peerWays = Object.fromEntries(
  (await peerSplitters()).flatMap(({ name, ofSize }) =>
    [256, 512].map((size) => {
      const splitText = ofSize(size, overlapTokens);
      const count = async () => {
        let chunks = 0;
        for (const { text } of documents) chunks += (await splitText(text)).length;
        return chunks;
      };
      return [`${name}, ${size} tokens`, count] as const;
    }),
  ),
);

console.log(
  `${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, gpt-tokenizer ${version("gpt-tokenizer")}`,
);
console.log(`node ${process.argv.slice(1).join(" ")}`);
console.log(
  `${documents.length} files, ${(characters / 1e6).toFixed(2)} million characters; best of ${runs} runs in turn`,
);

const seconds = new Map<string, number>();
const counts = new Map<string, number>();
// In turn, so that what else the machine does falls on all of them.
for (let round = 0; round <= runs; round++) {
  for (const [name, way] of Object.entries(round <= peerRuns ? { ...ways, ...peerWays } : ways)) {
    const before = process.cpuUsage();
    counts.set(name, await way());
    const { user, system } = process.cpuUsage(before);
    if (round > 0) seconds.set(name, Math.min(seconds.get(name) ?? Infinity, (user + system) / 1e6));
  }
}

const plain = seconds.get(plainPass) ?? Number.NaN;
for (const [name, taken] of seconds) {
  const speed = `${(characters / 1e6 / taken).toFixed(2)} million characters/s`.padStart(28);
  console.log(`${name.padEnd(56)}${speed}   ${(plain / taken).toFixed(2)} × plain   ${counts.get(name)} counted`);
}

function chunkCount(document: (typeof documents)[number], maxTokens: number): number {
  return [...split(document, { maxTokens, overlapTokens, parentTokens: 1024, tokens: defaultTokens })].length;
}

function sum(count: (document: (typeof documents)[number]) => number): number {
  return documents.reduce((total, document) => total + count(document), 0);
}

function version(name: string): string {
  return (require(`${name}/package.json`) as { version: string }).version;
}
