import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "./support/citewell.js";

const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
  cwd: root,
  maxBuffer: 64 << 20,
});
const [{ files }] = JSON.parse(stdout) as [
  { readonly files: readonly { readonly path: string; readonly size: number }[] },
];
const paths = new Set(files.map(({ path }) => path));
const folders = new Set([...paths].flatMap((path) => parentsOf(path)));
const pages = files.filter(({ path }) => path.endsWith(".md") && !path.startsWith("dist/"));

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? ["."] : [parent, ...parentsOf(parent)];
}

const textOf = (path: string) => readFileSync(join(root, path), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");

test("the package holds the guides, the pages of the site and the changes as Markdown, in 500 kB", () => {
  const names = pages.map(({ path }) => path);
  const wanted = ["README.md", "CHANGELOG.md", "examples/README.md", "examples/budget/README.md"];
  expect(names).toEqual(expect.arrayContaining([...wanted, "site/pages/start/five-minutes.md"]));
  expect(names.length).toBeGreaterThan(45);
  expect(pages.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(500_000);
  expect(paths).toContain("examples/budget/main.ts");
  expect([...paths].filter((path) => /^(src|test|benchmarks|build)\/|quickstart|tsconfig/.test(path))).toEqual([]);
});

test("every relative link and picture of README, guides and pages leads to something in the package", () => {
  const links = pages.flatMap(({ path }) =>
    [...textOf(path).matchAll(/\]\(([^)\s]+)\)|<img[^>]* src="([^"]+)"/g)]
      .map(([, link, picture]) => (link ?? picture)!)
      .filter((target) => !/^(https?:|#)/.test(target))
      .map((target) => ({ path, target, at: join(dirname(path), target.replace(/#.*$/, "")).replace(/\/$/, "") })),
  );
  expect(links.length).toBeGreaterThan(150);
  const dead = links.filter(({ at }) => !paths.has(at) && !folders.has(at));
  expect(dead.map(({ path, target }) => `${path}: ${target}`)).toEqual([]);
});

test("a link to a heading finds it", () => {
  const headings = (path: string) =>
    [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
    );
  const links = pages.flatMap(({ path }) =>
    [...textOf(path).matchAll(/\]\(([^)\s:]*\.md)?#([^)\s]+)\)/g)].map(([, page, heading]) => ({
      path,
      page: page === undefined ? path : join(dirname(path), page),
      heading: heading!,
    })),
  );
  expect(links.filter(({ page, heading }) => !headings(page).includes(heading))).toEqual([]);
});

test("the programs of a guide import nothing but citewell, Node, each other, and what their guide has one install", () => {
  const programs = [...paths].filter((path) => /^examples\/.*\.tsx?$/.test(path));
  expect(programs.length).toBeGreaterThan(25);
  const unnamed = programs.flatMap((path) => {
    const guide = readFileSync(join(root, dirname(path), "README.md"), "utf8");
    const named = [...guide.matchAll(/npm install ([^`\n]+)/g)].flatMap(([, words]) =>
      words!.split(" ").map((word) => word.replace(/(?<=.)@.*$/, "")),
    );
    const imported = [...readFileSync(join(root, path), "utf8").matchAll(/ from "([^".][^"]*)"/g)].map(
      ([, name]) => /^(?:@[^/]+\/)?[^/]+/.exec(name!)![0],
    );
    return imported
      .filter((name) => name !== "citewell" && !name.startsWith("node:") && !named.includes(name))
      .map((name) => `${path}: ${name}`);
  });
  expect(unnamed).toEqual([]);
  // A program that imports another one by its path stands beside it in the package.
  const relatives = programs.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/ from "(\.[^"]*)\.js"/g)].map(([, name]) =>
      join(dirname(path), `${name}.ts`),
    ),
  );
  expect(relatives.filter((path) => !paths.has(path))).toEqual([]);
});

test("package.json names entry points for resolvers that know exports and for those that do not, and the files are there", () => {
  const { main, types, exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly main: string;
    readonly types: string;
    readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
    readonly bin: Readonly<Record<string, string>>;
  };
  expect(exports["."]).toEqual({ types, default: main });
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.types, target.default],
  );
  const named = [...targets, main, types, ...Object.values(bin)].map((path) => path.replace("./", ""));
  expect(named.length).toBeGreaterThan(28);
  expect(named.filter((path) => !paths.has(path))).toEqual([]);
});

test("the page that a guide shows is the one that the tests drive in a browser", () => {
  const shown = readFileSync(join(root, "examples/react-page/page.tsx"), "utf8");
  expect(shown).toBe(readFileSync(join(root, "test/clients/page/use-chat-page.tsx"), "utf8"));
});
