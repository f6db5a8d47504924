import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import { expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { compileSamples } from "../support/compile-samples.js";
import { publicDeclarations, withDeclarations } from "../support/public-declarations.js";
import { referenceOf } from "./reference.js";

const { pages, broken, samples, functions } = withDeclarations((declarations) => ({
  ...referenceOf(declarations),
  functions: publicDeclarations(declarations).flatMap(({ label, node, exported }) =>
    exported && node.kind === SyntaxKind.FunctionDeclaration ? [label] : [],
  ),
}));

test("the API reference is written to build/docs, with every comment and sample in its place", () => {
  const folder = join(root, "build/docs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
  expect(pages.get("README.md")).toContain("- [citewell/load](citewell-load.md)");
  expect(pages.get("citewell.md")).toMatch(/^## ChunkOptions\n[\s\S]*?^- `maxTokens`: Maximum tokens of a chunk/m);
});

test("a type and field that a comment names exist", () => {
  expect(broken).toEqual([]);
});

test("every link of the reference leads to a heading of it", () => {
  const headings = new Map(
    [...pages].map(([name, text]) => [
      name,
      new Set([...text.matchAll(/^## (\w+)$/gm)].map(([, at]) => at!.toLowerCase())),
    ]),
  );
  const links = [...pages.values()].flatMap((text) => [...text.matchAll(/\]\(([\w-]+\.md)(?:#(\w+))?\)/g)]);
  expect(links.length).toBeGreaterThan(100);
  const dead = links.filter(
    ([, page, at]) => !headings.has(page!) || (at !== undefined && !headings.get(page!)!.has(at)),
  );
  expect(dead.map(([link]) => link)).toEqual([]);
});

test("every function that an entry point exports has a sample in its comment", () => {
  const sampled = new Set(samples.map(({ label }) => label));
  expect(functions.length).toBeGreaterThan(85);
  expect(functions.filter((name) => !sampled.has(name))).toEqual([]);
});

test("the samples of doc comments compile", async () => {
  await compileSamples("doc-samples", new Map(samples.map(({ label, code }, index) => [`${label}-${index}`, code])));
  expect(samples.length).toBeGreaterThan(85);
}, 60_000);
