import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { entries, withDeclarations } from "../support/public-declarations.js";
import { apiReport, declarationsByEntry } from "./api-report.js";

const reports = withDeclarations((declarations) =>
  declarationsByEntry(declarations).map((each) => ({
    specifier: each.specifier,
    report: apiReport(each, declarations.checker),
  })),
);
const fileOf = (specifier: string) => `${specifier.replace("/", "-")}.md`;

test.each(reports)(
  "the public types of $specifier are those of its report; `npm run api -- --update` writes it anew",
  async ({ specifier, report }) => {
    await expect(report).toMatchFileSnapshot(`reports/${fileOf(specifier)}`);
  },
);

test("every report belongs to an entry point", () => {
  const present = readdirSync(fileURLToPath(new URL("reports", import.meta.url)));
  expect(present.toSorted()).toEqual(entries.map(({ specifier }) => fileOf(specifier)).toSorted());
});

test("a report has all overloads and the keys of constants, and neither comments nor what is private", () => {
  const [main, evaluate] = ["citewell", "citewell/evaluate"].map(
    (wanted) => reports.find(({ specifier }) => specifier === wanted)!.report,
  );
  expect(main).not.toMatch(/\/\*\*|#private|^ +private/m);
  expect(main!.match(/^function openKnowledgeBase\b/gm)).toHaveLength(2);
  expect(evaluate).toContain(`type MetricName = "map" | "mrr@10" | "ndcg@10" | "recall@100";`);
});
