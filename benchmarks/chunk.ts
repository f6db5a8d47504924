/**
 * Compares chunking of real Markdown, ours and the peers' with the same tokenizer, size and overlap, with one plain pass of
 * that tokenizer over the same text. Prints CPU time of this process, the best of the runs, because wall time on a busy
 * machine includes other work. Slow splitters run fewer times.
 *
 *     npm run build:examples && node build/benchmarks/chunk.js [folder of .md files] [share of the files, 0 to 1]
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { split } from "../src/text/chunking/split.js";
import { defaultTokens } from "../src/text/tokens/tokens.js";
import type { Document } from "../src/core/types.js";
import { peerSplitters, plainCount } from "./peer-splitters.js";

/** Maximum runs of each splitter. No run starts once the earlier ones took `enoughSeconds` in total. */
const mostRuns = 6;
const enoughSeconds = 4;
/** Share of the files that each splitter is warmed up with. */
const warmingShare = 1 / 16;
const overlapTokens = 32;
const folder = process.argv[2] ?? "../shared/data/docs-corpus";
const require = createRequire(import.meta.url);
const share = Number(process.argv[3] ?? 1);

const documents: readonly Document[] = spread(
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .toSorted(),
  share,
).map((name) => ({ uri: name, text: readFileSync(join(folder, name), "utf8"), mediaType: "text/markdown" }));
const characters = documents.reduce((total, { text }) => total + text.length, 0);

const plainPass = "one plain pass of gpt-tokenizer";
/** The number of tokens or chunks of one document. */
type Count = (document: Document) => number | Promise<number>;
const ways: ReadonlyMap<string, Count> = new Map<string, Count>([
  [plainPass, ({ text }) => plainCount(text)],
  ["one pass of defaultTokens", ({ text }) => defaultTokens.count(text)],
  ...[256, 512, 8192].map(
    (size) => [`ours, ${size} tokens`, (document: Document) => chunkCount(document, size)] as const,
  ),
  ...(await peerSplitters()).flatMap(({ name, ofSize }) =>
    [256, 512].map((size): readonly [string, Count] => {
      const splitText = ofSize(size, overlapTokens);
      return [`${name}, ${size} tokens`, async ({ text }) => (await splitText(text)).length];
    }),
  ),
]);

console.log(
  `${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, gpt-tokenizer ${version("gpt-tokenizer")}`,
);
console.log(`node ${process.argv.slice(1).join(" ")}`);
console.log(
  `${documents.length} files, ${(characters / 1e6).toFixed(2)} million characters; best of up to ${mostRuns} runs in turn, none begun after ${enoughSeconds} s of them`,
);

const taken = new Map<string, number[]>();
const counts = new Map<string, number>();
for (const count of ways.values()) await sum(spread(documents, warmingShare), count);
// Splitters take turns, so that other load on the machine affects all of them.
for (let round = 1; round <= mostRuns; round++) {
  for (const [name, count] of ways) {
    const runs = taken.get(name) ?? [];
    if (runs.reduce((total, seconds) => total + seconds, 0) >= enoughSeconds) continue;
    const before = process.cpuUsage();
    counts.set(name, await sum(documents, count));
    const { user, system } = process.cpuUsage(before);
    taken.set(name, [...runs, (user + system) / 1e6]);
  }
}

const plain = Math.min(...taken.get(plainPass)!);
for (const [name, runs] of taken) {
  const best = Math.min(...runs);
  const speed = `${(characters / 1e6 / best).toFixed(2)} million characters/s`.padStart(28);
  console.log(
    `${name.padEnd(56)}${speed}   ${(plain / best).toFixed(2)} × plain   ${counts.get(name)} counted   best of ${runs.length}`,
  );
}

function chunkCount(document: Document, maxTokens: number): number {
  return [...split(document, { maxTokens, overlapTokens, parentTokens: 1024, tokens: defaultTokens })].length;
}

async function sum(of: readonly Document[], count: Count): Promise<number> {
  let total = 0;
  for (const document of of) total += await count(document);
  return total;
}

/** This many of the items, evenly spread. */
function spread<Item>(items: readonly Item[], part: number): readonly Item[] {
  return items.filter((_, index) => Math.floor((index + 1) * part) > Math.floor(index * part));
}

function version(name: string): string {
  return (require(`${name}/package.json`) as { version: string }).version;
}
