import type { Collection } from "../../../evaluate/collection.js";
import { compare, type Comparison } from "../../../evaluate/compare.js";
import { metricNames, type Scores } from "../../../evaluate/evaluate.js";
import { headings, planName, type BaselineRun, type EvalRun } from "./runs.js";

export interface EvalReportInput {
  readonly collection: Pick<Collection, "name" | "queries" | "withoutRelevant">;
  /** At least one. */
  readonly runs: readonly EvalRun[];
  /** The run that each run is compared with; without one, it is compared with the first run. */
  readonly baselines: readonly (BaselineRun | undefined)[];
}

/** Number of queries shown that rose most, and that fell most. */
const shownChanges = 10;

const chart = { left: 230, plot: 460, right: 70, row: 26, top: 10, axis: 34 } as const;

/** Measured runs as one self-contained page, without scripts, fonts or network. */
export function evalReport({ collection, runs, baselines }: EvalReportInput): string {
  const title = `Search on ${collection.name}`;
  const asked = runs[0]!.queries;
  const left = collection.withoutRelevant > 0 ? ` ${collection.withoutRelevant} more have nothing relevant.` : "";
  const comparisons = runs.flatMap((run, index) => {
    const baseline = baselines[index];
    if (!baseline && index === 0) return [];
    const name = baseline ? `the baseline (${planName(baseline)})` : planName(runs[0]!);
    return [{ run, reference: { name, scores: (baseline ?? runs[0]!).scores } }];
  });
  const texts = new Map(collection.queries.map(({ id, text }) => [id, text]));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
<h1>${escaped(title)}</h1>
<p>${asked} of ${collection.queries.length} queries asked.${left} Means over the queries, with 95 % bootstrap intervals.</p>
<h2>nDCG@10</h2>
${chartOf(runs)}
<h2>Measures</h2>
${measures(runs)}
${comparisons.map(({ run, reference }) => changes(run, reference, texts)).join("\n")}
</html>
`;
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #1b1b1f; background: #fff }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #d9d9de; vertical-align: top }
th:first-child, td:first-child { text-align: left } td.text { text-align: left }
small { color: #5c5c66; white-space: nowrap } .better { color: #146c2e } .worse { color: #b3261e }
.wide { overflow-x: auto } svg { max-width: 100%; height: auto } svg text { font: 13px system-ui, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) { body { color: #e4e4e9; background: #17171a } th, td { border-color: #3a3a42 } small { color: #a5a5b0 } .better { color: #7bd88f } .worse { color: #ff8a80 } }
`;

/** A chart with one dot per run at its mean, and a line for its interval. */
function chartOf(runs: readonly EvalRun[]): string {
  const bounds = runs.flatMap(({ intervals }) => intervals["ndcg@10"]);
  const low = Math.max(0, Math.floor(Math.min(...bounds) * 20) / 20);
  const high = Math.min(1, Math.max(low + 0.05, Math.ceil(Math.max(...bounds) * 20) / 20));
  const from = high > low ? low : low - 0.05;
  const x = (value: number) => chart.left + (chart.plot * (value - from)) / (high - from);
  const bottom = chart.top + runs.length * chart.row;
  const ticks = Array.from({ length: 6 }, (_, index) => from + ((high - from) * index) / 5).map(
    (value) =>
      `<line x1="${fixed(x(value))}" x2="${fixed(x(value))}" y1="${chart.top}" y2="${bottom}" stroke="#8884"/>` +
      `<text x="${fixed(x(value))}" y="${bottom + 18}" text-anchor="middle">${value.toFixed(2)}</text>`,
  );
  const rows = runs.map((run, index) => {
    const y = chart.top + (index + 0.5) * chart.row;
    const [start, end] = run.intervals["ndcg@10"];
    const mean = run.metrics["ndcg@10"];
    return (
      `<text x="${chart.left - 12}" y="${y + 4}" text-anchor="end">${escaped(planName(run))}</text>` +
      `<line x1="${fixed(x(start))}" x2="${fixed(x(end))}" y1="${y}" y2="${y}" stroke="#4a6fa5" stroke-width="3" stroke-linecap="round"/>` +
      `<circle cx="${fixed(x(mean))}" cy="${y}" r="5" fill="#1f4e8c"/>` +
      `<text x="${chart.left + chart.plot + 12}" y="${y + 4}">${mean.toFixed(3)}</text>`
    );
  });
  const width = chart.left + chart.plot + chart.right;
  return (
    `<svg viewBox="0 0 ${width} ${bottom + chart.axis}" width="${width}" role="img" ` +
    `aria-label="nDCG@10 of each run with its interval">${ticks.join("")}${rows.join("")}</svg>`
  );
}

function measures(runs: readonly EvalRun[]): string {
  const head = ["Search", ...metricNames.map((metric) => headings[metric]), "p50", "p95"];
  const rows = runs.map((run) => [
    escaped(planName(run)),
    ...metricNames.map((metric) => {
      const [low, high] = run.intervals[metric];
      return `${run.metrics[metric].toFixed(3)}<br><small>${low.toFixed(3)} to ${high.toFixed(3)}</small>`;
    }),
    `${run.latencyMs.p50.toFixed(1)} ms`,
    `${run.latencyMs.p95.toFixed(1)} ms`,
  ]);
  return table(head, rows);
}

interface Reference {
  readonly name: string;
  readonly scores: ReadonlyMap<string, Scores>;
}

function changes(run: EvalRun, reference: Reference, texts: ReadonlyMap<string, string>): string {
  const comparison = compare(run.scores, reference.scores);
  const differences = [...run.scores]
    .flatMap(([id, scores]) => {
      const before = reference.scores.get(id)?.["ndcg@10"];
      const now = scores["ndcg@10"];
      return before === undefined || before === now ? [] : [{ id, before, now, difference: now - before }];
    })
    .toSorted((a, b) => a.difference - b.difference || (a.id < b.id ? -1 : 1));
  const worse = differences.filter(({ difference }) => difference < 0);
  const better = differences.filter(({ difference }) => difference > 0).toReversed();
  const shown = [...worse.slice(0, shownChanges), ...better.slice(0, shownChanges)];
  const rows = shown.map(({ id, before, now, difference }) => [
    `<span class="text">${escaped(texts.get(id) ?? id)}</span> <small>${escaped(id)}</small>`,
    before.toFixed(3),
    now.toFixed(3),
    signed(difference),
  ]);
  return `<h2>${escaped(planName(run))} against ${escaped(reference.name)}</h2>
${table(["Measure", "before", "change", "p", ""], verdicts(comparison))}
<p>Of ${comparison.queries} queries, nDCG@10 rose for ${better.length} and fell for ${worse.length}.${rows.length > 0 ? " Those that changed most:" : ""}</p>
${rows.length > 0 ? table(["Query", "before", "now", "change"], rows) : ""}`;
}

function verdicts({ metrics }: Comparison): string[][] {
  return metricNames.map((metric) => {
    const { baseline, difference, p, verdict } = metrics[metric];
    const said = verdict === "same" ? "no clear change" : `<span class="${verdict}">${verdict}</span>`;
    return [headings[metric], baseline.toFixed(3), signed(difference), p.toFixed(4), said];
  });
}

/** A table whose cells are HTML. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (tag: "th" | "td", cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  return `<div class="wide"><table>\n${[line("th", head), ...rows.map((row) => line("td", row))].join("\n")}\n</table></div>`;
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!);
}
