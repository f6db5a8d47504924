import { html } from "hono/html";
import type { Collection } from "../../../evaluate/collection.js";
import { compare, type Comparison } from "../../../evaluate/compare.js";
import { answerMetricNames, type AnswerEvaluation } from "../../../evaluate/evaluate-answers.js";
import { metricNames, type Scores } from "../../../evaluate/evaluate.js";
import { count, counted } from "../../output/figures.js";
import { intervalChart, latencyChart } from "../../report/charts.js";
import { reportPage, type Cell, type ReportSection, type Table } from "../../report/page.js";
import {
  answerHeadings,
  comparisonRule,
  headings,
  planName,
  verdictOf,
  type BaselineRun,
  type EvalRun,
} from "./runs.js";

export interface EvalReportInput {
  readonly collection: Pick<Collection, "name" | "queries" | "withoutRelevant">;
  /** At least one. */
  readonly runs: readonly EvalRun[];
  /** Run that each run is compared with. Default: the first run. */
  readonly baselines: readonly (BaselineRun | undefined)[];
}

/** Number of queries shown that rose most, and that fell most. */
const shownChanges = 10;

/** Measured runs as one self-contained page. */
export function evalReport({ collection, runs, baselines }: EvalReportInput): Promise<string> {
  const asked = runs[0]!.queries;
  const left = collection.withoutRelevant > 0 ? ` ${collection.withoutRelevant} more have nothing relevant.` : "";
  const comparisons = runs.flatMap((run, index) => {
    const baseline = baselines[index];
    if (!baseline && index === 0) return [];
    const name = baseline ? `the baseline (${planName(baseline)})` : planName(runs[0]!);
    return [{ run, reference: { name, scores: (baseline ?? runs[0]!).scores } }];
  });
  const texts = new Map(collection.queries.map(({ id, text }) => [id, text]));
  return reportPage({
    title: `Search on ${collection.name}`,
    text: `${asked} of ${collection.queries.length} queries asked.${left} Means over the queries, with 95 % bootstrap intervals.`,
    sections: [
      {
        heading: "Scores",
        charts: metricNames.map((metric) =>
          intervalChart(
            headings[metric],
            runs.map((run) => ({ name: planName(run), mean: run.metrics[metric], interval: run.intervals[metric] })),
          ),
        ),
        tables: [
          {
            head: ["Search", ...metricNames.map((metric) => headings[metric])],
            rows: runs.map((run) => [planName(run), ...metricNames.map((metric) => scoreCell(run, metric))]),
          },
        ],
      },
      latencySection(
        "Time of a search",
        "queries",
        runs.map((run) => ({ name: planName(run), ...run })),
      ),
      ...comparisons.map(({ run, reference }) => changes(run, reference, texts)),
    ],
  });
}

/** Measured answers as one self-contained page. */
export function answersReport(collection: string, run: AnswerEvaluation): Promise<string> {
  const { questions, metrics, intervals, citations } = run;
  const score = (metric: (typeof answerMetricNames)[number]) => ({
    name: answerHeadings[metric],
    mean: metrics[metric],
    interval: intervals[metric],
  });
  return reportPage({
    title: `Answers on ${collection}`,
    text:
      `${counted(questions, "question")}. Means with 95 % bootstrap intervals. Of ${counted(citations.total, "citation")}, ` +
      `${count(citations.supported)} are supported by their source.`,
    sections: [
      {
        heading: "Scores",
        charts: [intervalChart("Answers", answerMetricNames.map(score))],
        tables: [
          {
            head: ["Measure", "mean and interval"],
            rows: answerMetricNames.map((metric) => [answerHeadings[metric], scoreCell(run, metric)]),
          },
        ],
      },
      latencySection("Time of an answer", "questions", [{ name: "answer", ...run }]),
    ],
  });
}

function scoreCell<Name extends string>({ metrics, intervals }: Measured<Name>, metric: Name): Cell {
  const [low, high] = intervals[metric];
  return html`${metrics[metric].toFixed(3)} <small>${low.toFixed(3)} to ${high.toFixed(3)}</small>`;
}

interface Measured<Name extends string> {
  readonly metrics: Readonly<Record<Name, number>>;
  readonly intervals: Readonly<Record<Name, readonly [number, number]>>;
}

interface Timed {
  readonly name: string;
  readonly durationsMs: readonly number[];
  readonly latencyMs: { readonly p50: number; readonly p95: number };
}

function latencySection(heading: string, asked: string, runs: readonly Timed[]): ReportSection {
  return {
    heading,
    text: `The ${asked} were asked one after another. A thin line covers all but the slowest and the fastest twentieth, a bar the middle half; the mark in it is the median.`,
    charts: [latencyChart(heading, runs)],
    tables: [
      {
        head: ["", "median", "95 % below"],
        rows: runs.map(({ name, latencyMs: { p50, p95 } }) => [name, `${p50.toFixed(1)} ms`, `${p95.toFixed(1)} ms`]),
      },
    ],
  };
}

interface Reference {
  readonly name: string;
  readonly scores: ReadonlyMap<string, Scores>;
}

function changes(run: EvalRun, reference: Reference, texts: ReadonlyMap<string, string>): ReportSection {
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
  const most = shown.length > 0 ? " Those that changed most are below the measures." : "";
  return {
    heading: `${planName(run)} against ${reference.name}`,
    text: `Of ${comparison.queries} queries, nDCG@10 rose for ${better.length} and fell for ${worse.length}. ${comparisonRule(comparison)}.${most}`,
    tables: [
      verdicts(comparison),
      ...(shown.length > 0
        ? [
            {
              head: ["Query", "before", "now", "change"],
              rows: shown.map(({ id, before, now, difference }) => [
                html`${texts.get(id) ?? id} <small>${id}</small>`,
                before.toFixed(3),
                now.toFixed(3),
                signed(difference),
              ]),
            },
          ]
        : []),
    ],
  };
}

function verdicts({ metrics, threshold }: Comparison): Table {
  const rows = metricNames.map((metric) => {
    const { baseline, difference, interval, p, correctedP, verdict } = metrics[metric];
    const said = verdictOf(metrics[metric]);
    return [
      headings[metric],
      baseline.toFixed(3),
      signed(difference),
      interval.map(signed).join(" to "),
      p.toFixed(4),
      correctedP.toFixed(4),
      verdict === "same" ? said : html`<span class="${verdict}">${said}</span>`,
    ];
  });
  return {
    head: ["Measure", "before", "change", "95 % interval", "p", `corrected (below ${threshold}?)`, ""],
    rows,
  };
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}
