import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

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
    server: { deps: { external: [/\/dist\//] } },
    reporters: ["default", `${root}test/support/summary-reporter.ts`],
    testTimeout: 30_000,
    pool: "forks",
  },
});
