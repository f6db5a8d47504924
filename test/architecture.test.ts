import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));

const contributing = readFileSync(new URL("../CONTRIBUTING.md", import.meta.url), "utf8");

/** Rows of the tables of rooms and of doors in CONTRIBUTING.md: a name, and the names in its last column. */
const tableRows = [...contributing.matchAll(/^\| `([\w.-]+)` +\|(?:([^|\n]*)\|)?([^|\n]*)\|$/gm)].map(
  ([, name, meaning, last]) => {
    const listed = [...last!.matchAll(/`([\w-]+)`/g)].map(([, one]) => one!);
    return { name: name!, isRoom: meaning !== undefined, listed };
  },
);

/** Rooms that a room may import, besides itself and the core. */
const mayImport: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  tableRows.filter(({ isRoom }) => isRoom).map(({ name, listed }) => [name, listed]),
);

/**
 * Sub-rooms that other rooms may import; all others are private to their room. A folder inside a sub-room is private to
 * that sub-room.
 */
const doors = tableRows
  .filter(({ isRoom }) => !isRoom)
  .flatMap(({ name, listed }) => listed.map((subRoom) => `${name}/${subRoom}`));

/** Exceptions for inner sub-rooms: who may import them besides the owner. */
const guests: Record<string, readonly string[]> = {};

/** Heavy, native and vendors' packages: each has one importing file, so that replacing it changes one file. */
const oneImporter = [
  "better-sqlite3",
  "hnswlib-node",
  "p-limit",
  "@opentelemetry/api",
  "htmlparser2",
  "@asciidoctor/core",
  "@mozilla/readability",
  "stemmer",
  "opencc-js",
  "chardet",
  "smol-toml",
  "js-yaml",
  "tinyglobby",
  "chokidar",
  "ignore",
  "image-size",
  "mediabunny",
  "@huggingface/tokenizers",
  "unpdf",
  "mammoth",
  "numfmt",
  "csv-parse",
  "fflate",
  "word-extractor",
  "hyparquet",
  "hyparquet-compressors",
  "postal-mime",
  "@kenjiuno/msgreader",
  "yauzl",
  "tar",
  "prom-client",
  "jose",
  "openid-client",
  "@e965/xlsx",
  "robots-parser",
  "sharp",
  "vega",
  "vega-lite",
  "@modelcontextprotocol/server",
  "@langchain/core",
  "ai",
  "supports-hyperlinks",
  "dompurify",
  "pg",
  "graphile-worker",
];

const maxFilesInFolder = 20;
const maxSubRooms = 12;
const maxReadmeLines = 60;

const everything = readdirSync(src, { recursive: true, encoding: "utf8", withFileTypes: true }).map((entry) => ({
  path: relative(src, join(entry.parentPath, entry.name)),
  isFolder: entry.isDirectory(),
}));
const isSource = (path: string) => /\.tsx?$/.test(path);
const files = everything.filter(({ path }) => isSource(path)).map(({ path }) => path);
const folders = everything.filter(({ isFolder }) => isFolder).map(({ path }) => path);

const imports = files.flatMap((file) => {
  const source = readFileSync(join(src, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const found = source.matchAll(
    /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\bnew URL\(\s*)"([^"]+)"/g,
  );
  return [...found].map(([, specifier]) => ({ file, specifier: specifier! }));
});

/** Imports between our own files. */
const between = imports
  .filter(({ specifier }) => specifier.startsWith(".") && specifier.endsWith(".js"))
  .map(({ file, specifier }) => {
    const written = relative(src, join(src, dirname(file), specifier)).replace(/\.js$/, ".ts");
    const target = existsSync(join(src, written)) ? written : `${written}x`;
    return { file, target, from: room(file), to: room(target) };
  });

function room(file: string): string {
  return file.split("/")[0]!;
}

/** The public surface and the command, which nobody imports: they may name what stands in any sub-room. */
function isEntry(name: string): boolean {
  return name === "index.ts" || name === "entries" || name === "cli";
}

function inside(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

/** Groups of nodes that reach each other, found by computing what each node reaches. */
function circles(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const reached = new Map<string, Set<string>>();
  for (const start of next.keys()) {
    const seen = new Set<string>();
    const waiting = [start];
    while (waiting.length > 0) {
      for (const to of next.get(waiting.pop()!) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        waiting.push(to);
      }
    }
    reached.set(start, seen);
  }
  const groups = new Set<string>();
  for (const [node, others] of reached) {
    if (!others.has(node)) continue;
    groups.add(
      [...others]
        .filter((other) => reached.get(other)?.has(node))
        .toSorted()
        .join(" "),
    );
  }
  return [...groups].map((names) => names.split(" "));
}

describe("who may import whom", () => {
  test("imports are found at all", () => {
    expect(between.length).toBeGreaterThan(500);
    expect(between).toContainEqual(expect.objectContaining({ file: "core/pipeline.ts", target: "core/errors.ts" }));
  });

  test("every room is in the table", () => {
    expect([...new Set(files.map(room))].filter((name) => !(name in mayImport))).toEqual([]);
  });

  test("the tables of CONTRIBUTING.md are found, and every permission in them is used", () => {
    expect(Object.keys(mayImport).length).toBeGreaterThan(15);
    expect(doors.length).toBeGreaterThan(10);
    expect(doors.length).toBeLessThanOrEqual(18);
    const used = new Set(between.map(({ from, to }) => `${from} imports ${to}`));
    const unused = Object.entries(mayImport).flatMap(([from, rooms]) =>
      rooms.map((to) => `${from} imports ${to}`).filter((line) => !used.has(line)),
    );
    expect(unused).toEqual([]);
    const unopened = doors.filter(
      (door) => !between.some(({ from, to, target }) => from !== to && !isEntry(from) && inside(target, door)),
    );
    expect(unopened).toEqual([]);
  });

  test("rooms import only rooms that the table names", () => {
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

  test("private sub-rooms are imported only by their owner", () => {
    const trespassers = between.filter(({ file, target, from, to }) => {
      const folder = dirname(target);
      const depth = folder.split("/").length;
      if (depth < 2 || inside(file, folder)) return false;
      if (guests[folder]?.some((guest) => dirname(file) === guest || (guest.includes("/") && inside(file, guest)))) {
        return false;
      }
      if (depth === 2) return from !== to && !isEntry(from) && !doors.includes(folder);
      return !inside(file, dirname(folder)) && !isEntry(from);
    });
    expect(trespassers.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  test.each(oneImporter)("%s has one importing file", (name) => {
    const importers = imports
      .filter(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`))
      .map(({ file }) => file);
    expect([...new Set(importers)]).toHaveLength(1);
  });

  test("only the command reads the environment", () => {
    const reading = files.filter(
      (file) => !/^(cli|server)\//.test(file) && /process\.env\b/.test(readFileSync(join(src, file), "utf8")),
    );
    expect(reading).toEqual([]);
  });
});

describe("circles", () => {
  test("are found if there are any", () => {
    expect(
      circles([
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
        ["c", "d"],
      ]),
    ).toEqual([["a", "b", "c"]]);
    expect(
      circles([
        ["a", "b"],
        ["b", "c"],
      ]),
    ).toEqual([]);
  });

  test("there are none among files, including imports of types", () => {
    expect(circles(between.map(({ file, target }) => [file, target]))).toEqual([]);
  });

  const deepest = Math.max(...folders.map((folder) => folder.split("/").length));

  test.each(Array.from({ length: deepest }, (_, index) => index + 1))(
    "there are none among folders %i deep",
    (depth) => {
      const parts = between
        .map(({ file, target }) => [part(file, depth), part(target, depth)] as const)
        // The parts of the PostgreSQL store are being taken apart anew.
        .filter(([one]) => !inside(one, "store/postgres"))
        // A folder and its subfolders are one idea and its parts.
        .filter(([one, other]) => one !== other && (depth === 1 || !(inside(one, other) || inside(other, one))));
      expect(circles(parts)).toEqual([]);
    },
  );

  function part(file: string, depth: number): string {
    const folder = dirname(file);
    return folder === "." ? file : folder.split("/").slice(0, depth).join("/");
  }
});

test("the top of the project holds these files and folders alone", async ({ skip }) => {
  const project = fileURLToPath(new URL("..", import.meta.url));
  const listed = await promisify(execFile)("git", ["ls-files"], { cwd: project, maxBuffer: 64 << 20 }).catch(() => {
    skip("git or its repository is not there: nothing says which files belong to the project");
    throw new Error("unreachable");
  });
  const names = new Set(listed.stdout.split("\n").map((path) => path.split("/")[0]!));
  expect([...names].filter((name) => name !== "" && !name.startsWith(".")).toSorted()).toEqual([
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "benchmarks",
    "examples",
    "package-lock.json",
    "package.json",
    "rolldown.config.ts",
    "site",
    "src",
    "test",
    "tsconfig.json",
  ]);
});

test("ARCHITECTURE.md draws every room of CONTRIBUTING.md, and answers questions with files that are there", () => {
  const page = readFileSync(new URL("../ARCHITECTURE.md", import.meta.url), "utf8");
  expect(Object.keys(mayImport).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const named = [...page.matchAll(/`(?:src\/)?((?:[a-z-]+\/)+(?:[a-z-]+\.ts)?)`/g)].map(([, path]) => path!);
  const places = named.filter((path) => mayImport[path.split("/")[0]!] !== undefined);
  expect(places.length).toBeGreaterThanOrEqual(24);
  expect(places.filter((path) => !existsSync(join(src, path)))).toEqual([]);
});

describe("size and READMEs of rooms", () => {
  test("no folder holds too many files or sub-rooms", () => {
    const counts = ["", ...folders].map((folder) => {
      const here = everything.filter(({ path }) => dirname(path) === (folder || "."));
      return {
        folder,
        files: here.filter(({ isFolder }) => !isFolder).length,
        subRooms: here.filter(({ isFolder }) => isFolder).length,
      };
    });
    expect(counts.filter(({ files: count }) => count > maxFilesInFolder)).toEqual([]);
    expect(counts.filter(({ folder, subRooms }) => folder !== "" && subRooms > maxSubRooms)).toEqual([]);
  });

  const readmes = everything.map(({ path }) => path).filter((path) => basename(path) === "README.md");

  test("every room has one", () => {
    const rooms = folders.filter((folder) => !folder.includes("/"));
    expect(rooms.filter((folder) => !readmes.includes(`${folder}/README.md`))).toEqual([]);
  });

  test.each(readmes)("%s is short, and names every file there and nothing else", (path) => {
    const folder = dirname(path);
    const text = readFileSync(join(src, path), "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(maxReadmeLines);
    const named = [...text.matchAll(/`([a-z0-9/-]+(?:\.tsx?|\.wat|\/))`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !existsSync(join(src, folder, name)) && !existsSync(join(src, name)))).toEqual([]);
    const here = everything
      .filter(({ path: each, isFolder }) => (isFolder ? dirname(each) === folder : nearestReadme(each) === path))
      .filter(({ path: each }) => isSource(each) || dirname(each) === folder)
      .filter(({ path: each }) => !each.endsWith("README.md") && !each.endsWith(".json"))
      .map(({ path: each, isFolder }) => `${relative(folder, each)}${isFolder ? "/" : ""}`);
    const missing = here.filter((name) => (name.endsWith("/") ? !text.includes(`\`${name}`) : !named.includes(name)));
    expect(missing).toEqual([]);
  });

  function nearestReadme(file: string): string | undefined {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      const path = join(folder, "README.md");
      if (readmes.includes(path)) return path;
    }
    return undefined;
  }
});

test("the public types need no types from packages that a user would have to install", () => {
  const dist = fileURLToPath(new URL("../dist/", import.meta.url));
  const seen = new Set<string>();
  const named = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = readFileSync(join(dist, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    for (const [, specifier] of code.matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      if (specifier!.startsWith(".")) visit(join(dirname(file), specifier!.replace(/\.js$/, ".d.ts")));
      else named.add(specifier!.replace(/^(@[^/]+\/[^/]+|[^/]+)\/.*/, "$1"));
    }
  };
  visit("index.d.ts");
  expect(seen.size).toBeGreaterThan(20);
  expect([...named].filter((name) => !name.startsWith("node:")).toSorted()).toEqual(["zod"]);
});
