import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bar, barChart } from "./bar-chart.js";
import type { Page } from "./page.js";

/** A benchmark's results, as far as charts show them. */
interface Measured {
  readonly benchmark: string;
  readonly measures: Readonly<Record<string, { readonly unit: string; readonly better: "higher" | "lower" }>>;
  readonly rows: readonly {
    readonly contender: string;
    readonly kind: string;
    readonly runs: readonly Readonly<Record<string, number>>[];
  }[];
}

const maxCharts = 4;

/** A page for each benchmark with its charts, and the drawings by their address in the site. */
export interface BenchmarkPages {
  readonly pages: readonly Page[];
  readonly drawings: ReadonlyMap<string, string>;
}

/** Divides the page of all benchmarks: an overview, and a page for each with charts of its medians. */
export function benchmarkPages(root: string, whole: Page): BenchmarkPages {
  const folder = join(root, "benchmarks/results");
  const measured = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Measured)
      .map((result) => [result.benchmark, result]),
  );
  const drawings = new Map<string, string>();
  const pages: Page[] = [];
  // Sections of a figure begin with a heading of the second level and end before the next heading.
  const overview = whole.text.replaceAll(
    /^## ([\w-]+)\n([\s\S]*?)(?=^#{1,2} |(?![\s\S]))/gm,
    (section: string, name: string, text: string) => {
      const result = measured.get(name);
      if (result === undefined) return section;
      const charts = chartsOf(result);
      for (const [at, [, svg]] of charts.entries()) drawings.set(addressOf(name, at), svg);
      const shown = charts.map(([label], at) => `![${label}](/${addressOf(name, at)})`);
      const next = "## What to read next\n\n[All benchmarks](/reference/benchmarks), and how to run one.";
      const path = `reference/benchmarks/${name}`;
      // The question comes first, the charts behind it, and the tables last.
      const [question, ...rest] = text
        .replaceAll(/<!--[\s\S]*?-->/g, "")
        .trim()
        .split(/\n\n+/);
      pages.push({ path, text: [`# ${name}`, question!, ...shown, ...rest, next, ""].join("\n\n") });
      return `- [${name}](/${path})\n`;
    },
  );
  const names = new Set(pages.map(({ path }) => path.replace("reference/benchmarks/", "")));
  const text = overview.replaceAll(/\]\(#([\w-]+)\)/g, (link: string, name: string) =>
    names.has(name) ? `](/reference/benchmarks/${name})` : link,
  );
  return { pages: [{ ...whole, text }, ...pages], drawings };
}

function addressOf(name: string, at: number): string {
  return `pictures/benchmark-${name}-${at}.svg`;
}

/** Charts of the first measures that at least two contenders have. */
function chartsOf({ measures, rows }: Measured): readonly (readonly [label: string, svg: string])[] {
  return Object.entries(measures)
    .map(([measure, { unit, better }]) => {
      const bars = rows.flatMap(({ contender, kind, runs }): Bar[] => {
        const value = median(runs.flatMap((run) => run[measure] ?? []));
        return value === undefined ? [] : [{ name: contender, value, isOurs: kind === "citewell" }];
      });
      return { title: `${measure}, ${unit}, ${better} is better`, bars };
    })
    .filter(({ bars }) => bars.length >= 2 && bars.every(({ value }) => value >= 0))
    .slice(0, maxCharts)
    .map(({ title, bars }) => [title, barChart(title, bars)] as const);
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
