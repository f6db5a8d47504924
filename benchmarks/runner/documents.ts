import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { planMarkdown } from "../planning/plan-tables.js";
import { designMarkdown } from "./design-table.js";
import { project } from "./project.js";
import { parseResult, ratiosOf, type Result, spreadOf, valuesOf } from "./result.js";
import { formatted, resultMarkdown } from "./tables.js";

export const resultsFolder = join(project, "benchmarks/results");

/** The results of a folder, by the names of their benchmarks; none where nothing was measured yet. */
export function readResults(folder = resultsFolder): ReadonlyMap<string, Result> {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  const results = files.map((name) => parseResult(readFileSync(join(folder, name), "utf8")));
  return new Map(results.map((result) => [result.benchmark, result]));
}

/** Pages of documentation that may hold figures. */
export function pagesWithFigures(): readonly string[] {
  const pages = ["examples", "site/pages"].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(project, folder, name)),
  );
  return [join(project, "README.md"), join(project, "benchmarks/README.md"), ...pages];
}

const tableMarks = /(<!-- benchmark (\S+) -->\n)[^]*?(<!-- \/benchmark -->)/g;
const designMarks = /(<!-- design -->\n)[^]*?(<!-- \/design -->)/;
const planMarks = /(<!-- plan -->\n)[^]*?(<!-- \/plan -->)/;
const figureMarks = /(<!-- figure (\S+); ([^;]+); ([^;]+?)(?:; × ([^;]+?))? -->)[^<]*(<!-- \/figure -->)/g;

/**
 * A Markdown page with its figures made anew from results: tables between `<!-- benchmark NAME -->` and
 * `<!-- /benchmark -->`, the figures of the design between `<!-- design -->` and `<!-- /design -->`, plans between `<!-- plan -->`
 * and `<!-- /plan -->`, and single figures between `<!-- figure NAME; CONTENDER; MEASURE; × CONTENDER -->`, of which the last
 * part asks for a ratio, and `<!-- /figure -->`.
 *
 * A figure of a benchmark without a result stays as it is.
 *
 * @throws Error when a page names a figure that the result has not.
 */
export function withFigures(page: string, results: ReadonlyMap<string, Result>): string {
  return page
    .replace(designMarks, (_, open: string, close: string) => `${open}\n${designMarkdown(results)}\n\n${close}`)
    .replace(planMarks, (_, open: string, close: string) => `${open}\n${planMarkdown(results)}\n\n${close}`)
    .replace(tableMarks, (_, open: string, name: string, close: string) => {
      const result = results.get(name);
      return `${open}\n${result === undefined ? "Not measured on this build." : resultMarkdown(result)}\n\n${close}`;
    })
    .replace(
      figureMarks,
      (whole, open: string, name: string, contender: string, measure: string, ...rest: unknown[]) => {
        const [beside, close] = rest as [string | undefined, string];
        const result = results.get(name);
        if (result === undefined) return whole;
        const values =
          beside === undefined ? valuesOf(result, contender, measure) : ratiosOf(result, contender, measure, beside);
        const spread = spreadOf(values);
        if (spread === undefined) throw new Error(`There is no result for ${measure} of ${contender} in ${name}`);
        return `${open}${formatted(spread.median)}${close}`;
      },
    );
}

/** A page without what the formatter adds to line up the columns of its tables. */
export function unaligned(page: string): string {
  return page.replace(/-{3,}|--(?=:)/g, "---").replace(/ {2,}/g, " ");
}
