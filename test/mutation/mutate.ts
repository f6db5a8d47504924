import { statSync } from "node:fs";
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { equivalentMutants } from "./equivalent-mutants.js";
import { type LocatedMutant, type TriedMutant, tryMutants } from "./try-mutants.js";

const defaults = [
  "src/stages/**",
  "src/text/**",
  "src/store/**/filter*",
  "src/transport/limits/**",
  "src/transport/failures/**",
];

const help = `Breaks the build in small ways, one at a time, and looks whether the tests notice.

npm run mutate -- [path…] [options]

  path           a source file, folder or glob; default: ${defaults.join(" ")}
  --max N        most mutants that are tried, sampled by the seed (100)
  --seed N       another seed is another sample (1)
  --workers N    mutants tried at a time (2)
  --tests N      most test files that are run on a mutant, the nearest (16)
  --seconds N    leaves out test files that take longer than this without a mutant (10)
  --all          also list those that were killed, with the test that did
  --help

  npm run mutate -- src/text/pack.ts --max 20 --seed 1
  npm run mutate -- src/stages --max 200 --workers 1

Nothing in src or dist is changed: the mutants live in a copy in the temporary folder. Mutants that no test can notice are
named in test/mutation/equivalent-mutants.ts, each with the reason.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    max: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    tests: { type: "string", default: "16" },
    seconds: { type: "string", default: "10" },
    all: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else await run();

async function run(): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  const tried = await tryMutants({
    project: process.cwd(),
    sources: positionals.length > 0 ? positionals.map(globOf) : defaults,
    maxMutants: wholeNumber("max"),
    seed: wholeNumber("seed"),
    workers: wholeNumber("workers"),
    maxTests: wholeNumber("tests"),
    maxTestSeconds: wholeNumber("seconds"),
    equivalents: equivalentMutants,
    onTried: (one, { done, all }) => {
      process.stderr.write(`${done} of ${all}: ${one.verdict} ${describe(one)}\n`);
    },
  });
  if (tried.length === 0) throw new Error(`No mutants in ${positionals.join(" ")}`);
  for (const one of tried) if (values.all || !isKilled(one)) process.stdout.write(`${report(one)}\n`);
  process.stdout.write(`\n${scores(tried)}\n`);
}

function globOf(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return relative(process.cwd(), path) + (isFolder ? "/**" : "");
}

function wholeNumber(name: "max" | "seed" | "workers" | "tests" | "seconds"): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} takes a whole number from 1, not ${values[name]}`);
  return value;
}

function describe({ file, line, column, kind, original, replacement }: LocatedMutant): string {
  return `${file}:${line}:${column} ${kind}: ${shortened(original)} → ${shortened(replacement)}`;
}

function report(one: TriedMutant): string {
  const by = one.killedBy === undefined ? "" : `\n    by ${one.killedBy}`;
  return `${one.verdict} ${describe(one)}\n    ${one.text}${by}`;
}

function shortened(code: string): string {
  const line = code.replaceAll(/\s+/g, " ");
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}

function isKilled({ verdict }: TriedMutant): boolean {
  return verdict === "killed" || verdict === "timeout";
}

/** One line for each folder and one for all. */
function scores(tried: readonly TriedMutant[]): string {
  const roomOf = ({ file }: TriedMutant) => file.split("/").slice(0, -1).join("/");
  const rooms = [...new Set(tried.map(roomOf))];
  const line = (name: string, some: readonly TriedMutant[]) => {
    const killed = some.filter(isKilled).length;
    return `${((100 * killed) / some.length).toFixed(0).padStart(3)} %  ${killed} of ${some.length}  ${name}`;
  };
  const lines = rooms.map((room) =>
    line(
      room,
      tried.filter((one) => roomOf(one) === room),
    ),
  );
  return [...lines, line("all", tried)].join("\n");
}
