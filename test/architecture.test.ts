import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));

/** Files at the top of src that every room may import. They import nobody but one another, and `text` for types. */
const core = [
  "types",
  "errors",
  "options",
  "stream",
  "ports",
  "pipeline",
  "tool",
  "filter",
  "price",
  "telemetry",
  "tracing",
];

/** Which rooms a room may import, beside itself and the core. The assembly and the doors come last. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  contract: [],
  text: [],
  // Work on other threads: how they are started, called and heard.
  thread: [],
  // What both that talk to other machines must agree on: which addresses are nobody else's business.
  network: [],
  // SQLite, for whoever keeps something in a file.
  sqlite: [],
  transport: ["contract", "text", "network"],
  models: ["contract", "transport", "text"],
  stages: ["text", "thread"],
  store: ["text", "thread", "sqlite"],
  load: ["text", "network"],
  local: ["contract", "text", "network", "sqlite"],
  evaluate: ["text", "stages"],
  upstream: ["contract", "transport", "local"],
  conversation: ["store"],
  "knowledge-base-options": ["conversation", "transport", "models", "stages", "load"],
  "knowledge-base": [
    "knowledge-base-options",
    "conversation",
    "upstream",
    "transport",
    "models",
    "stages",
    "store",
    "load",
    "text",
  ],
  migrate: ["knowledge-base-options", "upstream", "models", "stages", "store"],
  index: [
    "conversation",
    "contract",
    "transport",
    "models",
    "stages",
    "store",
    "load",
    "local",
    "text",
    "knowledge-base",
    "knowledge-base-options",
    "migrate",
    "evaluate",
  ],
  cli: [
    "conversation",
    "contract",
    "transport",
    "models",
    "stages",
    "store",
    "load",
    "local",
    "text",
    "knowledge-base",
    "knowledge-base-options",
    "migrate",
    "upstream",
    "evaluate",
  ],
  web: ["index", "knowledge-base"],
};

/** Packages that are heavy, native or a vendor's: each has one importing file, so that replacing it is one file's work. */
const oneImporter = [
  "better-sqlite3",
  "hnswlib-node",
  "gpt-tokenizer",
  "p-limit",
  "@opentelemetry/api",
  "htmlparser2",
  "stemmer",
  "chardet",
  "yaml",
  "tinyglobby",
  "chokidar",
  "ignore",
  "image-size",
  "mediabunny",
  "@huggingface/tokenizers",
  "unpdf",
  "mammoth",
  "csv-parse",
  "fflate",
  "robots-parser",
  "sharp",
];

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

const imports: readonly Import[] = files.flatMap((file) => {
  const source = readFileSync(join(src, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const found = source.matchAll(
    /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\bnew URL\(\s*)"([^"]+)"/g,
  );
  return [...found].map(([, specifier]) => ({ file, specifier: specifier! }));
});

function room(file: string): string {
  const [first, second] = file.split("/");
  if (second !== undefined) return first!;
  const name = first!.replace(/\.ts$/, "");
  return core.includes(name) ? "core" : name;
}

const between = imports
  .filter(({ specifier }) => specifier.startsWith(".") && specifier.endsWith(".js"))
  .map(({ file, specifier }) => {
    const target = relative(src, join(src, dirname(file), specifier)).replace(/\.js$/, ".ts");
    return { file, target, from: room(file), to: room(target) };
  });

describe("who may import whom", () => {
  test("the imports were found: every source file but the leaves imports something", () => {
    expect(between.length).toBeGreaterThan(20);
    expect(between).toContainEqual(expect.objectContaining({ file: "pipeline.ts", target: "errors.ts" }));
  });

  test("every room is in the table", () => {
    const rooms = new Set(between.flatMap(({ from, to }) => [from, to]));
    expect([...rooms].filter((name) => !(name in mayImport))).toEqual([]);
  });

  test("rooms import only those that the table names", () => {
    const broken = between.filter(({ from, to }) => from !== to && to !== "core" && !mayImport[from]?.includes(to));
    expect(broken.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  test("client and server meet only at the contract", () => {
    const crossing = between.filter(
      ({ from, to }) =>
        (from === "local" && ["transport", "models", "stages"].includes(to)) ||
        (["transport", "models", "stages", "store"].includes(from) && to === "local"),
    );
    expect(crossing).toEqual([]);
  });

  test.each(oneImporter)("%s has one importing file", (name) => {
    const importers = imports
      .filter(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`))
      .map(({ file }) => file);
    expect([...new Set(importers)]).toHaveLength(1);
  });

  test("nothing below the doors reads the environment", () => {
    const reading = files.filter(
      (file) => !/^(cli|web)\//.test(file) && /process\.env\b/.test(readFileSync(join(src, file), "utf8")),
    );
    expect(reading).toEqual([]);
  });

  test("the public types name no package that a user would have to install types for", () => {
    const dist = fileURLToPath(new URL("../dist/", import.meta.url));
    const seen = new Set<string>();
    const named = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, specifier] of readFileSync(join(dist, file), "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
        if (specifier!.startsWith(".")) visit(join(dirname(file), specifier!.replace(/\.js$/, ".d.ts")));
        else named.add(specifier!.replace(/^(@[^/]+\/[^/]+|[^/]+)\/.*/, "$1"));
      }
    };
    visit("index.d.ts");
    expect(seen.size).toBeGreaterThan(20);
    expect([...named].filter((name) => !name.startsWith("node:")).toSorted()).toEqual(["undici", "zod"]);
  });
});
