// In test:all alone: it runs benchmarks several times over, for 21 s.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Benchmark } from "../../benchmarks/runner/benchmark.js";
import { verdict } from "../../benchmarks/runner/compare.js";
import { pagesWithFigures, readResults, unaligned, withFigures } from "../../benchmarks/runner/documents.js";
import { designMarkdown, unexplained } from "../../benchmarks/runner/design-table.js";
import { aimValue, parseResult, ratiosOf, type Result, valuesOf } from "../../benchmarks/runner/result.js";
import { resultMarkdown } from "../../benchmarks/runner/tables.js";
import { root } from "../support/citewell.js";
import { runNode } from "../support/run-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const bench = join(root, "build/benchmarks/bench.js");

/** Spends 0.03 s of CPU, many times that, or as much in another process; or fails in one of the ways there are. */
const fixture = (few: boolean) => `
import { appendFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
const busy = (seconds) => { const until = process.cpuUsage().user + seconds * 1e6; while (process.cpuUsage().user < until); };
const contender = (name, work, more = {}) => ({ name, kind: "peer", load: async () => ({ name, work }), ...more });
export const benchmark = {
  name: "fixture", question: "Which is fast?", method: "By hand.", beside: "quick", rounds: 2,
  contenders: [
    contender("quick", () => busy(0.03)),
    contender("slowed", () => busy(0.5)),
    contender("in a child", () => execFileSync(process.execPath, ["--eval", "const busy = " + busy + "; busy(0.5)"])),
    contender("wrong", () => { throw new Error("2 of 3 came"); }),
    contender("crashed", () => process.exit(7)),
    contender("absent", () => {}, { packages: ["no-such-package"] }),
  ].slice(0, ${few ? 1 : 6}),
  measures: { "work": { unit: "pieces", better: "higher" } },
  sizes: { smoke: { pieces: 1 }, usual: { pieces: 3 } },
  aims: [{ contender: "quick", measure: "work", atLeast: 4 }],
  prepare: async () => ({ given: new URL("./order.txt", import.meta.url).pathname }),
  measure: async ({ name, work }, { size, given, timed }) => {
    appendFileSync(given, name + "\\n");
    await timed(work);
    return { work: size.pieces };
  },
};`;

describe("the runner", () => {
  async function runFixture(words: readonly string[] = [], few = true) {
    const folder = await temporaryFolder();
    const path = join(folder, "fixture.mjs");
    writeFileSync(path, fixture(few));
    const ended = await runNode(bench, [path, "--output", folder, ...words]);
    const read = () => parseResult(readFileSync(join(folder, "fixture.json"), "utf8"));
    return { ...ended, folder, read, order: () => readFileSync(join(folder, "order.txt"), "utf8").trim().split("\n") };
  }

  test("shows what is slower, here or in its children, and what is wrong or absent, and fails for what is wrong", async () => {
    const { exitCode, stdout, read, order } = await runFixture([], false);
    const result = read();
    expect(exitCode).toBe(1);
    expect(Math.min(...ratiosOf(result, "slowed", "CPU", "quick"))).toBeGreaterThan(4);
    if (process.platform === "linux")
      expect(Math.min(...ratiosOf(result, "in a child", "CPU", "quick"))).toBeGreaterThan(4);
    expect(valuesOf(result, "quick", "work")).toEqual([3, 3]);
    const problems = Object.fromEntries(
      result.rows.map(({ contender, failed, skipped }) => [contender, failed ?? skipped]),
    );
    expect(problems).toEqual({
      wrong: "2 of 3 came",
      crashed: "its process ended with 7 before it answered",
      absent: "no-such-package is not installed: npm install --prefix benchmarks/peers",
    });
    expect(stdout).toMatch(/work of quick, ≥ 4: \*\*3\*\*, missed/);
    // The second round goes backwards, without those that failed.
    expect(order().slice(0, 3)).toEqual(["quick", "slowed", "in a child"]);
    expect(order().slice(-3)).toEqual(["in a child", "slowed", "quick"]);
  });

  test("says what was measured where, with what, and takes another size", async () => {
    const { read } = await runFixture(["--size", "pieces=9", "--rounds", "1"]);
    const { setting, size, rows } = read();
    const { stdout: commit } = await promisify(execFile)("git", ["rev-parse", "--short=10", "HEAD"], { cwd: root });
    expect(setting).toMatchObject({ commit: commit.trim(), node: process.version, corpus: "made" });
    expect(setting.command).toMatch(/^npm run bench -- fixture\.mjs --output .* --size pieces=9 --rounds 1$/);
    expect(size).toEqual({ pieces: 9 });
    expect(rows[0]!.runs).toMatchObject([{ work: 9 }]);
  });

  test.each([
    [["--size", "parts=9"], /fixture has no size parts, only pieces/],
    [["--size", "pieces"], /'pieces' is invalid. It takes numbers, such as chunks=1000/],
    [["--rounds", "0"], /'0' is invalid. It has to be a whole number, 1 or more/],
    [["--round", "1"], /unknown option '--round'\n\(Did you mean --rounds\?\)/],
    [["--compare", "none.json"], /'none.json' is invalid. It has to be a file that a benchmark wrote/],
    [["serch"], /there is no benchmark serch, and no such file; see --list/],
  ])("refuses %j in one line and with exit code 2", async (words, message) => {
    const { exitCode, stderr } = await runFixture(words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(message) });
    expect(stderr).toMatch(/^error: .*\n(\(Did you mean .*\)\n)?Run with --help for usage.\n$/);
  });

  test("explains its options with examples, and lists what each benchmark asks", async () => {
    const help = await runNode(bench, ["--help"]);
    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toMatch(/^Usage: npm run bench --[^]*--smoke[^]*Examples:[^]*--corpus/);
    const { stdout } = await runNode(bench, ["--list"]);
    expect(stdout).toMatch(/^transport +How much CPU does a call cost, beside the bare HTTP client\?$/m);
    expect(stdout).toMatch(/^Further programs: .*soak/m);
  });

  test("compares with an older result, and draws a page of charts without scripts or addresses", async () => {
    const { folder } = await runFixture(["--rounds", "1"]);
    const report = join(folder, "report.html");
    const { stdout } = await runNode(bench, [
      join(folder, "fixture.mjs"),
      "--smoke",
      "--compare",
      join(folder, "fixture.json"),
      "--report",
      report,
    ]);
    expect(stdout).toContain("| quick | work | 3 | 1 | 0.333 × | worse |");
    const page = readFileSync(report, "utf8");
    expect(page.match(/<svg/g)!.length).toBeGreaterThan(2);
    expect(page).not.toMatch(/<script|<link|src=/);
  });

  test("a change counts only where the ranges of the rounds do not meet", () => {
    const spread = (least: number, most: number) => ({ least, most, median: (least + most) / 2 });
    expect(verdict(spread(1, 2), spread(1.9, 3), "lower")).toBe("");
    expect(verdict(spread(1, 2), spread(2.1, 3), "lower")).toBe("worse");
    expect(verdict(spread(1, 2), spread(2.1, 3), "higher")).toBe("better");
  });

  test("a stranger's splitter and folder take part by a file of at most 40 lines", async () => {
    const source = readFileSync(join(root, "benchmarks/own-peer.ts"), "utf8");
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    const folder = join(root, "test/fixtures/handbook");
    const own = join(root, "build/benchmarks/own-peer.js");
    const { exitCode, stdout } = await runNode(bench, [own, "--corpus", folder, "--smoke", "--size", "share=1"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/corpus: handbook, \d+ files/);
    expect(stdout).toMatch(/^\| blank lines \|( [\d.,]+ \([^|]*×\) \|){3}/m);
  });
});

const madeResult: Result = {
  format: 1,
  benchmark: "made",
  question: "Fast?",
  method: "So.",
  beside: "limit",
  size: { chunks: 1000 },
  measures: { rate: { unit: "1/s", better: "higher" } },
  aims: [{ contender: "own", measure: "rate", beside: "limit", atLeast: 0.9 }],
  rows: [
    { contender: "limit", kind: "limit", runs: [{ rate: 10 }, { rate: 20 }, { rate: 30 }] },
    { contender: "own", kind: "citewell", runs: [{ rate: 5 }, { rate: 18 }, { rate: 24 }] },
  ],
  setting: {
    at: "2026-01-02T03:04:05Z",
    command: "npm run bench made",
    commit: "abc",
    dirty: false,
    node: "v20",
    machine: { cpu: "Some", cores: 2, memoryBytes: 8e9, platform: "linux x64", load: 0.5 },
    versions: { zod: "4" },
    corpus: "made",
  },
};

/** A result in which one round measured us beside the limit. */
function resultOf(benchmark: string, limit: string, runs: Record<string, number>): ReadonlyMap<string, Result> {
  const rows = [
    {
      contender: limit,
      kind: "limit" as const,
      runs: [Object.fromEntries(Object.keys(runs).map((name) => [name, 10]))],
    },
    { contender: "citewell", kind: "citewell" as const, runs: [runs] },
  ];
  return new Map([[benchmark, { ...madeResult, benchmark, rows }]]);
}

describe("the figures of the documentation", () => {
  const results = readResults();

  test.each(pagesWithFigures().map((page) => page.slice(root.length)))("%s has those of the results", (page) => {
    const text = readFileSync(join(root, page), "utf8");
    expect(unaligned(text)).toBe(unaligned(withFigures(text, results)));
  });

  test("come from commits without changes, and nothing of ours was wrong", () => {
    const wrong = [...results.values()].flatMap(({ benchmark, rows, setting }) =>
      setting.dirty
        ? [benchmark]
        : rows.flatMap(({ contender, kind, failed }) =>
            failed && kind !== "peer" ? [`${benchmark}: ${contender}`] : [],
          ),
    );
    expect(wrong).toEqual([]);
  });

  test("come from the benchmarks as they are now, by their methods and the names of their sizes", async () => {
    const described = (method: string, size: object) => [method, Object.keys(size)];
    for (const { benchmark: name, method, size } of results.values()) {
      const path = [name, `${name}/${name}`, `proofs/${name}`, `planning/${name}`]
        .map((each) => join(root, `build/benchmarks/${each}.js`))
        .find(existsSync)!;
      const { benchmark } = (await import(path)) as { readonly benchmark: Benchmark };
      expect({ [name]: described(method, size) }).toEqual({
        [name]: described(benchmark.method, benchmark.sizes.usual),
      });
    }
  });

  test("have a reason in aims.ts for each aim of the design that they miss", () => {
    expect(unexplained(results)).toEqual([]);
  });

  test("say of each promise of the design whether it is met, and of a missed one why", () => {
    const at = (characters: number) =>
      designMarkdown(resultOf("chunk", "one tokenizer pass", { "512 tokens": characters }));
    const aim = "| [chunk](#chunk) | 512 tokens of citewell, × one tokenizer pass, ≥ 0.9 |";
    expect(at(8)).toContain(`${aim} 0.8 | **missed** |`);
    expect(at(8)).toMatch(/missed:\n\n- chunk, 512 tokens of citewell, .*: \w/);
    expect(at(9)).toMatch(/ ≥ 0\.9 \| 0\.9 \| met/);
    expect(at(9)).not.toContain("missed:");
    expect(at(9)).toMatch(/\| npm test .*\| – \| not measured \|/);
  });

  test("an aim that is missed without a reason is found", () => {
    const at = (cost: number) => unexplained(resultOf("transport", "bare undici", { chat: cost }));
    expect(at(13)).toEqual(["transport: chat of citewell, × bare undici, ≤ 1.2"]);
    expect(at(12)).toEqual([]);
  });

  test("are differences where an aim asks for them, and of several the worst of those that count", () => {
    const run = (...values: readonly number[]) => [Object.fromEntries(values.map((value, at) => [`m${at}`, value]))];
    const result: Result = {
      ...madeResult,
      rows: [
        { contender: "own", kind: "citewell", runs: run(3, 5, 4, 9) },
        { contender: "other", kind: "limit", runs: run(1, 5, 5, 5) },
      ],
    };
    // 2, 0, -1 and 4.
    const aim = { contender: "own", measure: ["m0", "m1", "m2", "m3"], less: "other" };
    expect(aimValue(result, { ...aim, atLeast: 0 })).toBe(-1);
    expect(aimValue(result, { ...aim, share: 0.5, atLeast: 0 })).toBe(2);
    expect(aimValue(result, { ...aim, atMost: 0 })).toBe(4);
    expect(aimValue(result, { ...aim, measure: ["m0", "m9"], atLeast: 0 })).toBeUndefined();
  });

  test("are medians, with the range of the ratios of rounds, and a figure that is not there is refused", () => {
    const result = madeResult;
    const markdown = resultMarkdown(result);
    expect(markdown).toContain("| own | 18 (0.8 ×, 0.5–0.9) |");
    expect(markdown).toContain("- rate of own, × limit, ≥ 0.9: **0.8**, missed");
    const made = new Map([["made", result]]);
    const page = "at <!-- figure made; own; rate; × limit -->old<!-- /figure --> of it";
    expect(withFigures(page, made)).toBe("at <!-- figure made; own; rate; × limit -->0.8<!-- /figure --> of it");
    expect(() => withFigures(page.replace("own", "none"), made)).toThrow(/no result for rate of none in made/);
  });
});
