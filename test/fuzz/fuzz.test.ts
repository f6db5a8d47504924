// In test:all alone: it reads mutated files of every format, for 14 s.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fuzzDocuments, type Fuzzing } from "./documents.js";
import { fuzzFilters } from "./filters.js";
import { fuzzFrontMatter } from "./front-matter.js";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** Fuzzes for a few seconds, and returns findings and figures. */
async function findingsOf<Figures>(fuzz: (fuzzing: Fuzzing) => Promise<Figures>) {
  const findings: string[] = [];
  const figures = await fuzz({
    project,
    seed: 1,
    seconds: 4,
    onFinding: (finding) => findings.push(finding),
  });
  return { findings, figures };
}

test("no mutated file ends the process or the run, or exceeds its limits", async () => {
  const { findings, figures } = await findingsOf(fuzzDocuments);
  expect(findings).toEqual([]);
  expect(figures).toBeGreaterThan(0);
}, 120_000);

test("front matter of any shape is stored as it was written, and an edit updates its document alone", async () => {
  const { findings, figures } = await findingsOf(fuzzFrontMatter);
  expect(findings).toEqual([]);
  expect(figures).toBeGreaterThan(0);
}, 120_000);

test("every value as a filter is refused, or finds what filtering by hand finds", async () => {
  const { findings, figures } = await findingsOf(fuzzFilters);
  expect(findings).toEqual([]);
  expect(figures.filters).toBeGreaterThan(figures.refused);
}, 120_000);
