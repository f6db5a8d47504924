// In test:all alone: it runs the test runner for each case, for 10 s.
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { RelatedTests } from "./related-tests.js";
import { tryMutants, type TriedMutant } from "./try-mutants.js";

/** A project whose one module has two mutants that its test notices, and one that no test can. */
const files = {
  "package.json": '{ "type": "module" }',
  "src/maths/larger.ts": "export function larger(a: number, b: number) {\n  return a > b ? a : b;\n}\n",
  "dist/maths/larger.js": "export function larger(a, b) {\n    return a > b ? a : b;\n}\n",
  "build/maps/maths/larger.js.map": JSON.stringify({
    version: 3,
    sources: ["../../src/maths/larger.ts"],
    names: [],
    mappings:
      "AAAA,MAAM,UAAU,MAAM,CAAC,CAAS,EAAE,CAAS;IACzC,OAAO,CAAC,GAAG,CAAC,CAAC,CAAC,CAAC,CAAC,CAAC,CAAC,CAAC,CAAC;AACtB,CAAC",
  }),
  "test/vitest.config.ts": "export default { test: { server: { deps: { external: [/dist/] } } } };\n",
  "test/maths/larger.test.ts": `
    import { expect, test } from "vitest";
    import { larger } from "../../dist/maths/larger.js";
    test("the larger of two numbers is the larger one", () => {
      expect([larger(1, 2), larger(2, 1)]).toEqual([2, 2]);
    });`,
};

async function project(others: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await temporaryFolder({ ...files, ...others });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

const options = {
  sources: ["src/**"],
  maxMutants: 100,
  seed: 1,
  workers: 1,
  maxTests: 5,
  maxTestSeconds: 20,
  equivalents: [],
  onTried: () => {},
};

function shown({ verdict, original, replacement, file, line, column }: TriedMutant): string {
  return `${verdict} ${file}:${line}:${column} ${original} → ${replacement}`;
}

test("mutants that a test notices are killed by it, the others survive, and the project stays as it was", async () => {
  const folder = await project();
  const tried = await tryMutants({ ...options, project: folder });
  expect(tried.map(shown)).toEqual([
    "killed src/maths/larger.ts:2:3 return a > b ? a : b; → return;",
    "killed src/maths/larger.ts:2:10 a > b → !(a > b)",
    // Equal numbers are equally large.
    "survived src/maths/larger.ts:2:11 > → >=",
  ]);
  expect(tried[0]!.killedBy).toBe("test/maths/larger.test.ts the larger of two numbers is the larger one");
  for (const [name, text] of Object.entries(files)) {
    expect(await readFile(join(folder, name), "utf8")).toBe(text);
  }
});

test("a test that is slow and fails does so without the mutant on a busy machine, and is no witness", async () => {
  const busy = `
    import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
    import { test } from "vitest";
    import "../../dist/maths/larger.js";
    test("passes once, is slow and fails, and then fails", async () => {
      appendFileSync("runs", ".");
      const runs = readFileSync("runs", "utf8").length;
      // Slow is measured by the first run, which itself is slow on a busy machine.
      if (runs === 1) writeFileSync("ms", String(performance.now()));
      if (runs === 2) await new Promise((resolve) => setTimeout(resolve, 5000 + 2 * Number(readFileSync("ms", "utf8"))));
      if (runs > 1) throw new Error("The machine is busy");
    });`;
  const folder = await project({ "test/maths/larger.test.ts": busy });
  const tried = await tryMutants({ ...options, project: folder, maxMutants: 1 });
  expect(tried.map(({ verdict }) => verdict)).toEqual(["untested"]);
});

test.each([{ replacement: ">=" }, {}])("mutants that are named as equivalent are not tried: %j", async (which) => {
  const equivalent = {
    file: "src/maths/larger.ts",
    line: "return a > b ? a : b;",
    original: ">",
    ...which,
    reason: "equal numbers are equally large",
  };
  const tried = await tryMutants({
    ...options,
    project: await project(),
    equivalents: [equivalent],
  });
  expect(tried.map(({ verdict }) => verdict)).toEqual(["killed", "killed"]);
});

test("tests that import a file come first, then its room's, then others; those that never reach it are left out", async () => {
  const folder = await temporaryFolder({
    "dist/index.js": 'export * from "./maths/larger.js"; new Worker(new URL("./worker.js", import.meta.url));',
    "dist/worker.js": 'import "./maths/thread.js";',
    "dist/maths/larger.js": "",
    "dist/maths/largest.js": 'import { larger } from "./larger.js";',
    "dist/maths/thread.js": "",
    "test/other/direct.test.ts": 'import { larger } from "../../src/maths/larger.js";',
    "test/other/whole.test.ts": 'import * as all from "citewell"; import type { A } from "../../src/maths/thread.js";',
    "test/maths/largest.test.ts": 'import { largest } from "../support/maths.js";',
    "test/support/maths.ts": 'export * from "../../src/maths/largest.js";',
  });
  const tests = ["test/other/whole.test.ts", "test/maths/largest.test.ts", "test/other/direct.test.ts"];
  const related = new RelatedTests(folder, tests);
  expect(related.of("dist/maths/larger.js")).toEqual([
    "test/other/direct.test.ts",
    "test/maths/largest.test.ts",
    "test/other/whole.test.ts",
  ]);
  expect(related.of("dist/maths/largest.js")).toEqual(["test/maths/largest.test.ts"]);
  expect(related.of("dist/maths/thread.js")).toEqual(["test/other/whole.test.ts"]);
});
