import { readFile } from "node:fs/promises";
import { z } from "zod";
import { asError, LoadError, OptionsError } from "../../../core/errors.js";
import type { Comparison, MetricChange } from "../../../evaluate/compare.js";
import type { AnswerMetric } from "../../../evaluate/evaluate-answers.js";
import { metricNames, type Evaluation, type MetricName } from "../../../evaluate/evaluate.js";
import { byName } from "../../../evaluate/statistics.js";
import { type Fusion, fusionOptions, type SearchMode } from "../../../stages/retrieval/search.js";
import { count, counted } from "../../output/figures.js";
import { writeText } from "../../output/write-text.js";
import type { EvalFlags } from "./collection.js";

/** One way of searching. */
export interface EvalPlan {
  readonly mode: SearchMode;
  readonly rerank: boolean;
  /** Fusion of the rankings. Default: that of the knowledge base. */
  readonly fusion?: (Fusion & Required<Pick<Fusion, "weights">>) | undefined;
}

/** One way of searching, measured. */
export interface EvalRun extends Evaluation, EvalPlan {
  readonly collection: string;
  /** Queries that were cut, because they are longer than the embedding model takes. */
  readonly shortenedQueries: number;
  readonly comparison?: Comparison;
}

/** Fusions that `--grid` measures: of scores and of ranks, and how much the dense side weighs. */
const gridDenseWeights = [0.2, 0.5, 1, 2] as const;
const gridMethods = [{ method: "score" }, { k: 10 }] as const;

/** The ways of searching to measure, one after another over one store. */
export function evalPlans({ mode: modes, rerank = false, grid = false }: EvalFlags): readonly EvalPlan[] {
  if (!grid) return (modes ?? ["hybrid"]).map((mode) => ({ mode, rerank }));
  const fusions = gridMethods.flatMap((method) =>
    gridDenseWeights.map((dense) => ({
      mode: "hybrid" as const,
      fusion: { ...method, weights: { dense, lexical: 1 } },
    })),
  );
  const single = (modes ?? ["lexical", "dense", "hybrid"]).map((mode) => ({ mode }));
  // The reranker orders the passages anew, so other fusions of them would hardly differ.
  return [
    ...single
      .flatMap((plan) => [plan, ...(plan.mode === "hybrid" ? fusions : [])])
      .map((plan) => ({ ...plan, rerank: false })),
    ...single.map((plan) => ({ ...plan, rerank: true })),
  ];
}

/** A run as `--json` prints it, without the scores of each query. */
export function runAsJson({ collection, mode, queries, metrics, intervals, latencyMs, ...run }: EvalRun): object {
  const { rerank, fusion, shortenedQueries, comparison } = run;
  const more = {
    ...(rerank && { rerank }),
    ...(fusion && { fusion }),
    ...(shortenedQueries > 0 && { shortenedQueries }),
    ...(comparison && { comparison }),
  };
  return { collection, mode, queries, metrics, intervals, latencyMs, ...more };
}

/** The fields of a file from `--output` that `--baseline` reads; the others are for people. */
const RunFile = z.object({
  runs: z
    .array(
      z.object({
        collection: z.string(),
        mode: z.enum(["hybrid", "dense", "lexical"]),
        rerank: z.boolean().default(false),
        fusion: z
          .object({
            method: fusionOptions.shape.method,
            k: z.number().optional(),
            weights: z.object({ dense: z.number(), lexical: z.number() }),
          })
          .optional(),
        scores: z
          .record(z.string(), z.object(byName(metricNames, () => z.number())))
          .transform((scores) => new Map(Object.entries(scores))),
      }),
    )
    .min(1),
});

export type BaselineRun = z.output<typeof RunFile>["runs"][number];

export async function writeRuns(path: string, runs: readonly EvalRun[]): Promise<void> {
  const content = runs.map((run) => ({ ...runAsJson(run), scores: Object.fromEntries(run.scores) }));
  await writeText(path, `${JSON.stringify({ runs: content }, null, 1)}\n`);
}

/** @throws LoadError when there is no such file, or `--output` did not write it. */
export async function readBaseline(path: string): Promise<readonly BaselineRun[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new LoadError("missing", path, `Cannot read the baseline ${path}: ${asError(cause).message}`, { cause });
  }
  try {
    return RunFile.parse(JSON.parse(text)).runs;
  } catch (cause) {
    const message = `${path} is not a baseline: it has no scores by query. Use a file that --output wrote`;
    throw new LoadError("malformed", path, message, { cause });
  }
}

/**
 * The run of a baseline to compare with: the one that searched in the same way, or the only one, so that one mode can be
 * compared with another.
 *
 * @throws OptionsError when it measured another collection, or has several runs and none of this mode.
 */
export function baselineFor(
  runs: readonly BaselineRun[],
  { collection, ...plan }: EvalPlan & { readonly collection: string },
): BaselineRun {
  const [first] = runs;
  const name = planName(plan);
  const found = runs.find((run) => planName(run) === name) ?? (runs.length === 1 ? first : undefined);
  if (!found) throw new OptionsError("options", `The baseline has ${runs.length} runs, but none of mode ${name}`);
  if (found.collection !== collection) {
    throw new OptionsError("options", `The baseline measured the collection ${found.collection}, not ${collection}`);
  }
  return found;
}

export const headings: Record<MetricName, string> = {
  "ndcg@10": "nDCG@10",
  "recall@100": "Recall@100",
  "mrr@10": "MRR@10",
  map: "MAP",
};

export const answerHeadings: Record<AnswerMetric, string> = {
  exactMatch: "Exact match",
  tokenF1: "Token F1",
  topCitation: "Top citation holds the answer",
  topCitationRecall: "Words of the answer in it",
  topCitationDocument: "Top citation, right document",
  anyCitation: "Any citation holds the answer",
  citationPrecision: "Citation precision",
  citationRecall: "Citation recall",
  answered: "Answered",
};

/** A table of runs with intervals, followed by the changes against the baseline. */
export function describeRuns(runs: readonly EvalRun[]): string {
  const head = ["Mode", ...metricNames.map((metric) => headings[metric]), "p50", "p95"];
  const rows = runs.map((run) => [
    planName(run),
    ...metricNames.map((metric) => {
      const [low, high] = run.intervals[metric];
      return `${run.metrics[metric].toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
    }),
    `${run.latencyMs.p50.toFixed(1)} ms`,
    `${run.latencyMs.p95.toFixed(1)} ms`,
  ]);
  return [...table([head, ...rows]), "", ...runs.flatMap(describeComparison)].join("\n");
}

function describeComparison({ comparison, ...run }: EvalRun): string[] {
  if (!comparison) return [];
  const head = [`${planName(run)} against the baseline`, "before", "change", "95 % interval", "p", "corrected", ""];
  const rows = metricNames.map((metric) => {
    const { baseline, difference, interval, p, correctedP } = comparison.metrics[metric];
    return [
      headings[metric],
      baseline.toFixed(3),
      signed(difference),
      interval.map(signed).join(" to "),
      p.toFixed(4),
      correctedP.toFixed(4),
      verdictOf(comparison.metrics[metric]),
    ];
  });
  return [...table([head, ...rows]), comparisonRule(comparison), ""];
}

/** The verdict in words; without a clear one, how many queries would tell. */
export function verdictOf({ verdict, queriesNeeded }: MetricChange): string {
  if (verdict !== "same") return verdict;
  return queriesNeeded === undefined ? "no change" : `no clear change; ${count(queriesNeeded)} queries would tell`;
}

/** The sentence that says when a change is called one. */
export function comparisonRule({ queries, threshold }: Pick<Comparison, "queries" | "threshold">): string {
  return (
    `${counted(queries, "query", "queries")} asked by both. Better or worse where p, corrected for ${metricNames.length} ` +
    `measures (Holm), is below ${threshold}; queries "would tell" a change of this size in four of five cases`
  );
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(3)}`;
}

export function planName({ mode, rerank, fusion }: EvalPlan): string {
  const by = fusion?.k === undefined ? fusion?.method : `k=${fusion.k}`;
  const fusing = fusion ? ` ${by} ${fusion.weights.dense}:${fusion.weights.lexical}` : "";
  return `${mode}${fusing}${rerank ? " + rerank" : ""}`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
