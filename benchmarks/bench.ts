/**
 * `npm run bench [name|file…]` runs benchmarks by name, or a module of one's own that exports `benchmark`; without a name all.
 *
 *     npm run bench -- chunk search --corpus DIR --size chunks=100000 --rounds 7 --report report.html --compare old.json
 *
 * `--smoke` runs each once with little data and keeps nothing. `--output DIR` is where results are written, one JSON file
 * each; default: benchmarks/results. `--tables` alone writes the figures of the documentation anew from there. The programs
 * in `proofs/` and `planning/` are started by their names as well, with the words that follow.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { comparison } from "./runner/compare.js";
import { pagesWithFigures, readResults, resultsFolder, unaligned, withFigures } from "./runner/documents.js";
import { resultsReport } from "./runner/report.js";
import { parseResult, type Result } from "./runner/result.js";
import { runBenchmark } from "./runner/run-benchmark.js";
import { resultMarkdown } from "./runner/tables.js";

const names =
  "chunk spans ingest files memory search graph scale growth ask answers transport local open quality serve".split(" ");

/** Programs that take long or judge rather than compare, by their folders. */
const programs = [
  ...["foreign-partitions", "fuzz-local", "killed-workers", "large-store", "soak", "store-quality", "unchanged"].map(
    (name) => `proofs/${name}`,
  ),
  ...["ingest-workers", "plan", "postgres-size", "words"].map((name) => `planning/${name}`),
];

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const words = process.argv.slice(2);
const program = programs.find((path) => basename(path) === words[0]);
if (program === undefined) await main();
else {
  const started = spawnSync(process.execPath, [here(`${program}.js`), ...words.slice(1)], { stdio: "inherit" });
  process.exitCode = started.status ?? 1;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      smoke: { type: "boolean", default: false },
      rounds: { type: "string" },
      size: { type: "string" },
      corpus: { type: "string" },
      compare: { type: "string" },
      report: { type: "string" },
      output: { type: "string", default: resultsFolder },
      tables: { type: "boolean", default: false },
    },
  });
  if (values.tables) return writeFigures();
  const older = values.compare === undefined ? undefined : parseResult(readFileSync(values.compare, "utf8"));
  const results: Result[] = [];
  for (const name of positionals.length > 0 ? positionals : names) {
    const flags = words.filter((word) => !positionals.includes(word) || word === values.corpus);
    const result = await runBenchmark(moduleOf(name), {
      smoke: values.smoke,
      ...(values.rounds !== undefined && { rounds: wholeNumber("--rounds", values.rounds) }),
      ...(values.size !== undefined && { size: sizeOf(values.size) }),
      ...(values.corpus !== undefined && { corpus: values.corpus }),
      command: ["npm run bench --", basename(name), ...flags].join(" "),
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
    if (typeof result === "string") {
      console.log(`## ${name}\n\nLeft out: ${result}\n`);
      continue;
    }
    console.log(`## ${name}\n\n${resultMarkdown(result)}\n`);
    if (older?.benchmark === result.benchmark) console.log(`${comparison(older, result)}\n`);
    if (result.rows.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
    if (!values.smoke) write(join(values.output, `${result.benchmark}.json`), `${JSON.stringify(result, null, 2)}\n`);
    results.push(result);
  }
  if (values.report !== undefined) write(values.report, await resultsReport(results));
}

function moduleOf(name: string): string {
  if (names.includes(name)) return here(`${name}.js`);
  if (existsSync(name)) return resolve(name);
  throw new Error(
    `There is no benchmark ${name}, only ${[...names, ...programs.map((path) => basename(path))].join(", ")}, and no such file`,
  );
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name} is ${text}; it has to be a whole number, 1 or more`);
  return Number(text);
}

/** The numbers of `chunks=1000,dimension=64`. */
function sizeOf(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(",").map((part) => {
      const [name = "", value = ""] = part.split("=");
      if (!/^\d+(\.\d+)?$/.test(value)) throw new Error(`--size takes numbers, such as chunks=1000, not ${part}`);
      return [name, Number(value)];
    }),
  );
}

function write(path: string, text: string): void {
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, text);
  process.stderr.write(`written: ${path}\n`);
}

/** Writes the figures of all pages anew; `npm run format` then lines up the tables. */
function writeFigures(): void {
  const results = readResults();
  for (const page of pagesWithFigures()) {
    const text = readFileSync(page, "utf8");
    const figured = withFigures(text, results);
    if (unaligned(figured) !== unaligned(text)) write(page, figured);
  }
}
