import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

// Slow oracles, servers and processes run in `npm run test:all` alone: the first line of such a file says why. Files that the
// command line names run in any case.
const mark = /^\/\/ In test:all alone: its? /;

/** Files that do not run now. */
function excludedFiles(mode: string): string[] {
  // The clients that people have are installed apart; without them, a test of that name says so.
  const clients = existsSync(`${root}test/clients/node_modules`) ? [] : ["test/clients/!(missing).test.ts"];
  const isWhole = mode === "all" || process.argv.slice(2).some((word) => /^test\b(?!.*config)/.test(word));
  const files = isWhole ? [] : globSync("test/**/*.test.ts", { cwd: root, ignore: ["**/node_modules/**"] });
  const slow = files.filter((file) => mark.test(readFileSync(`${root}${file}`, "utf8").slice(0, 100)));
  return [...configDefaults.exclude, ...clients, ...slow];
}

// These files wait most of their time: for databases and browsers, for time limits that they let pass, for upstreams that are
// made slow. Twice as many of them as of others run at once, so that the processors do not wait with them.
const waiting = [
  "test/benchmarks/measuring.test.ts",
  "test/cli/{postgres-store,watch}.test.ts",
  "test/clients/use-chat.test.ts",
  "test/knowledge-base/workers/rate-budget.test.ts",
  "test/server/page/*.test.ts",
  "test/store/chroma/*.test.ts",
  "test/store/postgres/**/*.test.ts",
  "test/transport/http/{not-delivered,timeouts}.test.ts",
];

// The files of these rooms do less than it takes to start a process and to load the library into it, so that those of one
// worker share a process. The named ones set what a process has once, such as its tracer, or look at the whole process.
const sharing = [
  "test/{adapters,conformance,contract,core,evaluate,local,models,stages,text,transport}/**/" +
    "!(answer-spans|not-delivered|scifact-vectors|soak|split-on-worker|telemetry|timeouts).test.ts",
];

// One core is left to the programs that the tests start. There are at least two workers, since many tests hardly use a core.
const workers = Math.max(2, availableParallelism() - 1);

function projectsWithout(exclude: string[]): readonly ViteUserConfig["test"][] {
  return [
    { name: "waiting", include: waiting, exclude, maxWorkers: 2 * workers, sequence: { groupOrder: 1 } },
    {
      name: "alone",
      include: ["test/**/*.test.ts"],
      exclude: [...exclude, ...waiting, ...sharing],
      maxWorkers: workers,
      sequence: { groupOrder: 2 },
    },
    { name: "sharing", include: sharing, exclude, isolate: false, maxWorkers: workers, sequence: { groupOrder: 2 } },
  ];
}

// Tests are written against src and run against dist, its build: what is tested is what is shipped, and worker threads
// start from real files.
const resolve = {
  alias: [
    { find: /^(?:\.\.\/)+src\/(.*)$/, replacement: `${root}dist/$1` },
    { find: /^citewell$/, replacement: `${root}dist/index.js` },
    { find: /^citewell\/(.+)$/, replacement: `${root}dist/entries/$1.js` },
  ],
};

export default defineConfig(({ mode }) => ({
  root,
  test: {
    globalSetup: [`${root}test/support/prepare-run.ts`],
    reporters: ["default", `${root}test/support/summary-reporter.ts`],
    projects: projectsWithout(excludedFiles(mode)).map((test) => ({
      root,
      resolve,
      test: {
        setupFiles: [`${root}test/support/property-seed.ts`],
        server: { deps: { external: [/\/dist\//] } },
        // A loop over nothing asserts nothing.
        expect: { requireAssertions: true },
        // Shared machines are slow at times; a test that hangs is found all the same.
        testTimeout: 120_000,
        hookTimeout: 120_000,
        pool: "forks",
        ...test,
      },
    })),
  },
}));
