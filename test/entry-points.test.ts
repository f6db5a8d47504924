import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root } from "./support/citewell.js";
import { runNode } from "./support/run-process.js";

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
};
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === "string" ? [] : [{ specifier: name.replace(/^\./, "citewell"), ...target }],
);

const hooks = new URL("support/name-loaded-packages.mjs", import.meta.url).href;

/** Names of the values that an importer gets, as a process of its own sees them. */
async function namesOf(specifier: string): Promise<string[]> {
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(specifier)}))))`;
  const { stdout, exitCode, stderr } = await runNode("--input-type=module", ["--eval", script], { cwd: root });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as string[];
}

describe("entry points", () => {
  test("are those that the README names", () => {
    expect(entries.map(({ specifier }) => specifier)).toEqual([
      "citewell",
      "citewell/transport",
      "citewell/video",
      "citewell/load",
      "citewell/evaluate",
      "citewell/local",
      "citewell/server",
      "citewell/mcp",
      "citewell/ai-sdk",
      "citewell/postgres",
      "citewell/langchain",
      "citewell/testing",
      "citewell/store-conformance",
      "citewell/transfer",
    ]);
  });

  test.each(entries)(
    "$specifier is there with its types, and exports what is named in it",
    async ({ specifier, types }) => {
      const names = await namesOf(specifier);
      const declared = readFileSync(join(root, types), "utf8");
      for (const name of names) expect(declared).toMatch(new RegExp(`\\b${name}\\b`));
      expect(names.length).toBeGreaterThan(1);
    },
  );

  test("the main one can be held in the head", async () => {
    const names = await namesOf("citewell");
    expect(names.length).toBeLessThanOrEqual(49);
  });

  test("a name means the same wherever it is exported", async () => {
    const script = `
      const seen = new Map();
      for (const specifier of ${JSON.stringify(entries.map(({ specifier }) => specifier))}) {
        for (const [name, value] of Object.entries(await import(specifier))) {
          if (seen.has(name) && seen.get(name) !== value) console.log(name);
          seen.set(name, value);
        }
      }`;
    const { stdout } = await runNode("--input-type=module", ["--eval", script], { cwd: root });
    expect(stdout).toBe("");
  });
});

/** The packages that each entry loads at once. All others are loaded by what needs them, when it is called. */
const loadedAtOnce: Readonly<Record<string, readonly string[]>> = {
  citewell: ["opencc-js", "stemmer", "zod"],
  "citewell/transport": ["zod"],
  "citewell/video": ["zod"],
  "citewell/load": ["robots-parser", "zod"],
  "citewell/evaluate": ["opencc-js", "stemmer", "zod"],
  "citewell/local": [],
  "citewell/server": ["@hono/node-server", "hono", "opencc-js", "stemmer", "zod"],
  "citewell/ai-sdk": ["opencc-js", "stemmer", "zod"],
  "citewell/langchain": ["opencc-js", "stemmer", "zod"],
  "citewell/mcp": ["opencc-js", "stemmer", "zod"],
  "citewell/postgres": ["opencc-js", "stemmer", "zod"],
  "citewell/testing": ["zod"],
  "citewell/store-conformance": ["zod"],
  "citewell/transfer": ["zod"],
};

async function loadedPackages(specifier: string): Promise<string[]> {
  const script = `await import(${JSON.stringify(specifier)})`;
  const { stderr } = await runNode("--import", [hooks, "--input-type=module", "--eval", script], { cwd: root });
  return stderr.split("\n").filter((name) => name !== "");
}

test.each(entries)("importing $specifier loads the packages that are listed for it, and no others", async (entry) => {
  const loaded = new Set(await loadedPackages(entry.specifier));
  loaded.delete("citewell");
  expect([...loaded].toSorted()).toEqual(loadedAtOnce[entry.specifier]);
});

test("importing citewell costs little, since what only calls need is loaded by the first of them", async () => {
  const own = (await loadedPackages("citewell")).filter((name) => name === "citewell");
  // 160 modules take 1.6 times as long as undici and zod together (`npm run bench open`), 264 took 2.4 times.
  expect(own.length).toBeGreaterThan(50);
  expect(own.length).toBeLessThanOrEqual(200);
});

test("the package ships no maps, since the sources that they lead to are not in it", async () => {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: root,
    maxBuffer: 64 << 20,
  });
  const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(paths).toContain("dist/index.js");
  expect(paths.filter((path) => path.endsWith(".map") || path.startsWith("src/"))).toEqual([]);
  expect(readFileSync(join(root, "dist/index.js"), "utf8")).not.toContain("sourceMappingURL");
  expect(readFileSync(join(root, "dist/index.d.ts"), "utf8")).not.toContain("sourceMappingURL");
});
