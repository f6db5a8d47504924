import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { aimsOf } from "../aims.js";
import { project } from "../runner/project.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";

/** Runs all tests; or knows how many minutes they took. */
type Suite = { readonly command: readonly string[] } | { readonly minutes: number };

/** Output of the tests. */
const log = join(project, "build/suite.log");

/** Minutes that the suite of the first version took on two cores, in its last complete run in CI. */
const firstMinutes = 29;

export const benchmark: Benchmark<Suite> = {
  name: "suite",
  question: "How long do all tests take?",
  method:
    "`npm run test:only` on what is built. The first version is not built again: its whole suite, of fewer tests, took 29 minutes on two cores when " +
    "it was last run whole in CI. A test that fails makes the figure fail.",
  contenders: [
    { name: "first version", kind: "limit", load: async () => ({ minutes: firstMinutes }) },
    {
      name: "this version",
      kind: "citewell",
      load: async () => ({ command: ["npm", "run", "--silent", "test:only"] }),
    },
  ],
  beside: "first version",
  measures: { all: { unit: "min", better: "lower" }, tests: { unit: "tests", better: "higher" } },
  sizes: { smoke: {}, usual: {} },
  rounds: 1,
  aims: aimsOf("suite"),
  measure: measureSuite,
};

async function measureSuite(suite: Suite, { timed }: RunContext<undefined>): Promise<Record<string, number>> {
  if ("minutes" in suite) return { all: suite.minutes };
  const [program = "", ...words] = suite.command;
  const { result, wallSeconds } = await timed(() =>
    spawnSync(program, words, { cwd: project, encoding: "utf8", maxBuffer: 1 << 30 }),
  );
  writeFileSync(log, result.stdout);
  const passed = /^Tests: (\d+) passed/m.exec(result.stdout)?.[1];
  if (result.status !== 0) throw new Error(`${result.stdout.trimEnd().split("\n").at(-1)}; see ${log}`);
  return { all: wallSeconds / 60, tests: Number(passed) };
}
