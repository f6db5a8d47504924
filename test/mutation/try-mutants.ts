import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { glob } from "tinyglobby";
import { seededRandom } from "../support/seeded-random.js";
import { findMutants, type Mutant } from "./find-mutants.js";
import { RelatedTests } from "./related-tests.js";
import { Sandbox } from "./sandbox.js";

export interface MutationOptions {
  /** The folder with `src`, `dist` and `test`; nothing in it is changed. */
  readonly project: string;
  /** Globs of source files, relative to the project: `src/text/**`. */
  readonly sources: readonly string[];
  /** Most mutants that are tried: more than these are sampled. */
  readonly maxMutants: number;
  readonly seed: number;
  /** Mutants tried at a time. */
  readonly workers: number;
  /** Most test files that are run on a mutant, the nearest. */
  readonly maxTests: number;
  /** Test files that take longer than this without a mutant are left out. */
  readonly maxTestSeconds: number;
  readonly equivalents: readonly EquivalentMutant[];
  /** Is told each result as it comes. */
  readonly onTried: (tried: TriedMutant, count: { readonly done: number; readonly all: number }) => void;
}

/** A change that no test can notice, because the program does the same. */
export interface EquivalentMutant {
  readonly file: string;
  /** The line of the source, without the white space around it. */
  readonly line: string;
  readonly original: string;
  /** Default: whatever it is replaced by. */
  readonly replacement?: string;
  readonly reason: string;
}

export interface LocatedMutant extends Mutant {
  /** Path of the built file. */
  readonly built: string;
  /** Place in the source: path relative to the project, line and column from 1. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** That line of the source, without the white space around it. */
  readonly text: string;
}

export interface TriedMutant extends LocatedMutant {
  /** `timeout`: the test took far longer than without the mutant, and passed without it again. */
  readonly verdict: "killed" | "timeout" | "survived" | "untested";
  /** File and title of the test that failed. */
  readonly killedBy?: string;
}

/** Source maps of `dist`, which holds none because the package ships none. */
const mapsFolder = "build/maps";

/** The built form of sources, by the paths of both. */
async function sourceFiles({ project, sources }: MutationOptions): Promise<string[]> {
  const found = await glob([...sources], { cwd: project, ignore: ["**/*.d.ts"] });
  return found.filter((path) => path.endsWith(".ts")).toSorted();
}

function mutantsOf(project: string, file: string): LocatedMutant[] {
  const built = file.replace(/^src/, "dist").replace(/ts$/, "js");
  const code = readFileSync(join(project, built), "utf8");
  const map = new SourceMap(
    JSON.parse(readFileSync(join(project, `${file.replace(/^src/, mapsFolder).replace(/ts$/, "js")}.map`), "utf8")),
  );
  const sourceLines = readFileSync(join(project, file), "utf8").split("\n");
  return findMutants(code).map((mutant) => {
    const before = code.slice(0, mutant.start).split("\n");
    const entry = map.findEntry(before.length - 1, before.at(-1)!.length);
    const [line, column] = "originalLine" in entry ? [entry.originalLine, entry.originalColumn] : [0, 0];
    return { ...mutant, built, file, line: line + 1, column: column + 1, text: sourceLines[line]?.trim() ?? "" };
  });
}

/** Chooses the mutants to try: leaves out equivalent ones, and samples where there are too many. */
export async function chooseMutants(options: MutationOptions): Promise<LocatedMutant[]> {
  const { project, maxMutants, seed, equivalents } = options;
  const files = await sourceFiles(options);
  const all = files
    .flatMap((file) => mutantsOf(project, file))
    .filter(
      ({ file, text, original, replacement }) =>
        !equivalents.some(
          (one) =>
            one.file === file &&
            one.line === text &&
            one.original === original &&
            (one.replacement ?? replacement) === replacement,
        ),
    );
  const random = seededRandom(seed);
  return all
    .map((mutant) => ({ mutant, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, maxMutants)
    .map(({ mutant }) => mutant)
    .toSorted((one, other) => one.file.localeCompare(other.file) || one.start - other.start);
}

/** Tries each mutant on the tests that are nearest to its file. */
export async function tryMutants(options: MutationOptions): Promise<TriedMutant[]> {
  const { project, workers, maxTests, maxTestSeconds, onTried } = options;
  const mutants = await chooseMutants(options);
  const tests = await glob("test/**/*.test.ts", { cwd: project, ignore: ["**/node_modules/**"] });
  const related = new RelatedTests(project, tests);
  /** Duration of each test without a mutant; undefined where it fails even so, or takes too long for this. */
  const durations = new Map<string, Promise<number | undefined>>();
  /** Number of mutants that each test noticed. */
  const kills = new Map<string, number>();
  const waiting = [...mutants];
  const results: TriedMutant[] = [];

  const durationOf = (test: string, sandbox: Sandbox) => {
    const known = durations.get(test) ?? measured(test, sandbox);
    durations.set(test, known);
    return known;
  };

  const measured = async (test: string, sandbox: Sandbox) => {
    const started = performance.now();
    const { outcome } = await sandbox.run(test, maxTestSeconds * 1000);
    return outcome === "passed" ? performance.now() - started : undefined;
  };

  const worker = async (): Promise<void> => {
    const sandbox = new Sandbox(project);
    const stop = () => sandbox.close();
    process.once("exit", stop);
    try {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const tried = { ...mutant, ...(await verdictOn(mutant, sandbox)) };
        results.push(tried);
        onTried(tried, { done: results.length, all: mutants.length });
      }
    } finally {
      process.off("exit", stop);
      sandbox.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, mutants.length) }, worker));
  return results.toSorted((one, other) => one.file.localeCompare(other.file) || one.start - other.start);

  async function verdictOn(
    { built, start, end, replacement }: LocatedMutant,
    sandbox: Sandbox,
  ): Promise<Pick<TriedMutant, "verdict" | "killedBy">> {
    const mutate = (code: string) => code.slice(0, start) + replacement + code.slice(end);
    const candidates = related.of(built);
    // A test that noticed other mutants is likely to notice this one.
    const nearest = candidates
      .slice(0, maxTests)
      .toSorted((one, other) => (kills.get(other) ?? 0) - (kills.get(one) ?? 0));
    let ran = 0;
    for (const test of [...nearest, ...candidates.slice(maxTests)]) {
      const durationMs = await durationOf(test, sandbox);
      if (durationMs === undefined) continue;
      const startedMs = performance.now();
      const run = await sandbox.runWith(built, mutate, test, 10_000 + 5 * durationMs);
      const wasSlow = performance.now() - startedMs > 1000 + 2 * durationMs;
      // A busy machine also makes tests slow, and slow ones fail: then the test fails without the mutant too.
      if (run.outcome !== "passed" && wasSlow && (await measured(test, sandbox)) === undefined) continue;
      if (run.outcome !== "passed") kills.set(test, (kills.get(test) ?? 0) + 1);
      if (run.outcome === "timeout") return { verdict: "timeout", killedBy: test };
      if (run.outcome === "failed") return { verdict: "killed", killedBy: `${test} ${run.title ?? ""}`.trim() };
      if (++ran === maxTests) break;
    }
    return { verdict: ran === 0 ? "untested" : "survived" };
  }
}
