import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/citewell.js";

const examples = join(root, "examples");
const guides = readdirSync(examples, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith("README.md"))
  .map((name) => join(examples, name));
const pages = [...guides, ...["README.md", "CONTRIBUTING.md", "benchmarks/README.md"].map((name) => join(root, name))];

/** Files and folders that a page links to, by their address in it. */
function linksOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(page, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  const local = targets.filter((target) => !/^(https?:|#)/.test(target));
  return new Map(local.map((target) => [target, join(dirname(page), target.replace(/#.*$/, ""))]));
}

test("every folder of examples with programs has a guide, and the list of guides names it", () => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = [...linksOf(join(examples, "README.md")).keys()];
  expect(folders.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
  expect(folders.filter(({ name }) => !existsSync(join(examples, name, "README.md")))).toEqual([]);
});

test("the programs of the guides read nothing of this repository, so that they run wherever they are copied to", () => {
  const programs = readdirSync(examples, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const reading = programs.filter((name) => {
    const code = readFileSync(join(examples, name), "utf8");
    return name !== "quickstart.ts" && /["'`](?:\.{0,2}\/)*(?:test|benchmarks|build|src)\//.test(code);
  });
  // The quickstart of a clone asks about documentation that is part of the clone.
  expect(reading).toEqual([]);
});

test.each(pages.map((page) => relative(root, page)))("the links of %s lead somewhere", (page) => {
  const dead = [...linksOf(join(root, page))].filter(([, path]) => !existsSync(path)).map(([target]) => target);
  expect(dead).toEqual([]);
});

describe.each(guides.map((page) => relative(root, page)))("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");

  test("is at most a page", () => {
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
    expect(Math.max(...text.split("\n").map((line) => (line.startsWith("|") ? 0 : line.length)))).toBeLessThanOrEqual(
      180,
    );
  });

  test("says first what one will have, and ends with what to read next", () => {
    if (page === "examples/README.md") return expect(text).toContain("## Limits and non-goals");
    expect(text).toMatch(/^# .+\n\nYou will (?:have|know|see) /);
    expect(
      text
        .trimEnd()
        .split(/\n\s*\n/)
        .at(-1),
    ).toMatch(/Next: \[/);
  });

  test("a block that is no whole program stands behind a link to the program that it is part of", () => {
    const folder = dirname(join(root, page));
    const blocks = [...text.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)];
    const unmarked = blocks.filter(({ index, 1: code }) => {
      if (/^import /m.test(code!)) return false;
      const before = text
        .slice(0, index)
        .trimEnd()
        .split(/\n\s*\n/)
        .at(-1)!;
      const linked = [...before.matchAll(/\]\(([^)\s]+\.tsx?)\)/g)].map(([, target]) => join(folder, target!));
      return !linked.some((program) => readFileSync(program, "utf8").includes(code!.trimEnd()));
    });
    expect(unmarked.map(({ 1: code }) => code)).toEqual([]);
  });

  test("shows code that stands in its programs, which the tests run", () => {
    const folder = dirname(join(root, page));
    const beside = readdirSync(folder).map((name) => join(folder, name));
    const linked = [...linksOf(join(root, page)).values()];
    const programs = [...beside, ...linked]
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => readFileSync(path, "utf8"));
    const shown = [...text.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
    expect(shown.filter((code) => !programs.some((program) => program.includes(code.trimEnd())))).toEqual([]);
  });
});
