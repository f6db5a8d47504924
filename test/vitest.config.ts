import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

// The clients that people have are installed apart; without them, a test of that name says so.
const clients = existsSync(`${root}test/clients/node_modules`) ? [] : ["test/clients/!(missing).test.ts"];

// Tests are written against src and run against dist, its build: what is tested is what is shipped, and worker threads
// start from real files.
export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^(?:\.\.\/)+src\/(.*)$/, replacement: `${root}dist/$1` },
      { find: /^citewell$/, replacement: `${root}dist/index.js` },
      { find: /^citewell\/(.+)$/, replacement: `${root}dist/entries/$1.js` },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...clients],
    globalSetup: [`${root}test/support/prepare-run.ts`],
    setupFiles: [`${root}test/support/property-seed.ts`],
    server: { deps: { external: [/\/dist\//] } },
    reporters: ["default", `${root}test/support/summary-reporter.ts`],
    // Shared machines are slow at times; a test that hangs is found all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Half of the tests wait most of the time, so that two cores are enough for two files at once.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
