/**
 * `npm run bench [name|file…]` runs benchmarks by name, or a module of one's own that exports `benchmark`; without a name all.
 * `--help` shows the options. The programs in `proofs/` and `planning/` are started by their names as well, with the words
 * that follow.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import pLimit from "p-limit";
import { type Benchmark, MisuseError } from "./runner/benchmark.js";
import { comparison } from "./runner/compare.js";
import { pagesWithFigures, readResults, resultsFolder, unaligned, withFigures } from "./runner/documents.js";
import { resultsReport } from "./runner/report.js";
import { parseResult, type Result } from "./runner/result.js";
import { runBenchmark } from "./runner/run-benchmark.js";
import { resultMarkdown } from "./runner/tables.js";

const paths = [
  ..."chunk spans ingest files read memory search graph scale growth ask answers manuals tuning transport local open quality serve".split(
    " ",
  ),
  "typed/typed",
  ...["killed", "stores", "million"].map((name) => `proofs/${name}`),
  "planning/postgres-size",
];

/** Runs all tests, so that the small runs leave it out. */
const alone = "proofs/suite";

/** Programs that take long or judge rather than compare, by their folders. */
const programs = [
  ...[
    "articles",
    "fuzz-local",
    "killed-workers",
    "large-store",
    "mixed-load",
    "room-crossings",
    "soak",
    "slow-line",
    "static-model",
    "unchanged",
  ].map((name) => `proofs/${name}`),
  ...["plan", "words"].map((name) => `planning/${name}`),
];

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const words = process.argv.slice(2);
const program = programs.find((path) => basename(path) === words[0]);
if (program === undefined) await main();
else {
  const started = spawnSync(process.execPath, [here(`${program}.js`), ...words.slice(1)], { stdio: "inherit" });
  process.exitCode = started.status ?? 1;
}

interface Options {
  readonly list?: boolean;
  readonly smoke?: boolean;
  readonly rounds?: number;
  readonly size?: Record<string, number>;
  readonly corpus?: string;
  readonly compare?: Result;
  readonly report?: string;
  readonly output: string;
  readonly tables?: boolean;
}

async function main(): Promise<void> {
  const command = new Command("npm run bench --")
    .description("Measure citewell beside other libraries and the machine's limits, on this machine.")
    .argument("[name...]", "benchmarks, or files of your own that export one; default: all")
    .option("--list", "print the question of each benchmark, and the names of further programs")
    .option("--smoke", "run each once, with little data, and keep nothing")
    .option("--rounds <count>", "runs of each contender, instead of the benchmark's own", wholeNumber)
    .option("--size <numbers>", "other amounts of work, such as chunks=100000,dimension=64", sizeOf)
    .option("--corpus <folder>", "your own Markdown; for quality a collection in BEIR's layout, or a folder of them")
    .option("--compare <file>", "show what changed since an older result", readResult)
    .option("--report <file>", "write one page of charts")
    .addOption(
      new Option("--output <folder>", "where results are written, one JSON file each").default(
        resultsFolder,
        "benchmarks/results",
      ),
    )
    .option("--tables", "only write the figures of the documentation anew, from benchmarks/results")
    .addHelpText(
      "after",
      `
Examples:
  $ npm install --prefix benchmarks/peers                 install what is compared with, once
  $ npm run bench                                    all of them
  $ npm run bench -- chunk search --rounds 7 --report report.html
  $ npm run bench -- chunk --corpus ../my-docs       your own documents
  $ npm run bench -- build/benchmarks/own-peer.js    your own peer: copy benchmarks/own-peer.ts
  $ npm run bench -- search --size chunks=100000 --compare benchmarks/results/search.json
  $ npm run bench -- soak 1000                       a further program, with its own words

Exit codes: 0 done, 1 a contender failed, 2 misuse.`,
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .showHelpAfterError("Run with --help for usage.")
    .parse(words, { from: "user" });
  const refuse = (message: string) => command.error(`error: ${message}`);
  const options = command.opts<Options>();
  if (options.tables) return writeFigures();
  if (options.list) return list();
  const all = options.smoke ? paths : [...paths, alone];
  const modules = (command.args.length > 0 ? command.args : all.map((path) => basename(path))).map((name) => {
    const path = [...paths, alone].find((each) => basename(each) === name);
    if (path === undefined && !existsSync(name)) refuse(`there is no benchmark ${name}, and no such file; see --list`);
    return { name, module: path === undefined ? resolve(name) : here(`${path}.js`) };
  });
  try {
    await measure(modules, options, command.args);
  } catch (error) {
    if (!(error instanceof MisuseError)) throw error;
    refuse(error.message);
  }
}

interface Chosen {
  readonly name: string;
  readonly module: string;
}

async function measure(chosen: readonly Chosen[], options: Options, named: readonly string[]): Promise<void> {
  const { smoke = false, rounds, size, corpus, compare: older, report, output } = options;
  const results: Result[] = [];
  const measureOne = async ({ name, module }: Chosen) => {
    const flags = words.filter((word) => !named.includes(word) || word === corpus);
    const result = await runBenchmark(module, {
      smoke,
      ...(rounds !== undefined && { rounds }),
      ...(size !== undefined && { size }),
      ...(corpus !== undefined && { corpus }),
      command: ["npm run bench --", basename(name), ...flags].join(" "),
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
    if (typeof result === "string") return console.log(`## ${name}\n\nLeft out: ${result}\n`);
    console.log(`## ${name}\n\n${resultMarkdown(result)}\n`);
    if (older?.benchmark === result.benchmark) console.log(`${comparison(older, result)}\n`);
    if (result.rows.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
    if (!smoke) write(join(output, `${result.benchmark}.json`), `${JSON.stringify(result, null, 2)}\n`);
    results.push(result);
  };
  // Measurements of smoke runs are thrown away, so they may disturb each other.
  const limit = pLimit(smoke ? availableParallelism() : 1);
  await Promise.all(chosen.map((each) => limit(measureOne, each)));
  if (report !== undefined) write(report, await resultsReport(results));
}

async function list(): Promise<void> {
  for (const path of [...paths, alone]) {
    const { benchmark } = (await import(here(`${path}.js`))) as { readonly benchmark: Benchmark };
    console.log(`${basename(path).padEnd(10)} ${benchmark.question}`);
  }
  console.log(`\nFurther programs: ${programs.map((path) => basename(path)).join(", ")}`);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It has to be a whole number, 1 or more.");
  return Number(text);
}

/** The numbers of `chunks=1000,dimension=64`. */
function sizeOf(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(",").map((part) => {
      const [name = "", value = ""] = part.split("=");
      if (!/^\d+(\.\d+)?$/.test(value)) throw new InvalidArgumentError("It takes numbers, such as chunks=1000.");
      return [name, Number(value)];
    }),
  );
}

function readResult(path: string): Result {
  try {
    return parseResult(readFileSync(path, "utf8"));
  } catch {
    throw new InvalidArgumentError("It has to be a file that a benchmark wrote.");
  }
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
