import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";
import { asError, LoadError, OptionsError } from "../errors.js";
import type { Comparison } from "../evaluate/compare.js";
import { byMetric, metricNames, type Evaluation, type MetricName, type Scores } from "../evaluate/evaluate.js";
import type { Fusion } from "../knowledge-base-options.js";
import type { SearchMode } from "../stages/search.js";

/** One way of searching. */
export interface EvalPlan {
  readonly mode: SearchMode;
  readonly rerank: boolean;
  /** Absent: as the knowledge base fuses. */
  readonly fusion?: Required<Fusion>;
}

/** One way of searching, measured. */
export interface EvalRun extends Evaluation, EvalPlan {
  readonly collection: string;
  /** Queries of which only the beginning was asked, being longer than the embedding model takes. */
  readonly shortenedQueries: number;
  readonly comparison?: Comparison;
}

/** A run without the scores of each query: what `--json` prints. */
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

const ScoresSchema = z.object(byMetric(() => z.number()));

/** What `--output` writes and `--baseline` reads; other fields are for people. */
const RunFile = z.object({
  runs: z
    .array(
      z.object({
        collection: z.string(),
        mode: z.enum(["hybrid", "dense", "lexical"]),
        rerank: z.boolean().default(false),
        fusion: z.object({ k: z.number(), weights: z.object({ dense: z.number(), lexical: z.number() }) }).optional(),
        scores: z.record(z.string(), ScoresSchema),
      }),
    )
    .min(1),
});

export type BaselineRun = EvalPlan & {
  readonly collection: string;
  readonly scores: ReadonlyMap<string, Scores>;
};

export async function writeRuns(path: string, runs: readonly EvalRun[]): Promise<void> {
  const content = runs.map((run) => ({ ...runAsJson(run), scores: Object.fromEntries(run.scores) }));
  await writeText(path, `${JSON.stringify({ runs: content }, null, 1)}\n`);
}

export async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new OptionsError("options", `Cannot write ${path}: ${asError(cause).message}`, { cause });
  }
}

/** @throws LoadError when there is no such file or it is none that `--output` wrote. */
export async function readBaseline(path: string): Promise<readonly BaselineRun[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new LoadError("missing", path, `Cannot read the baseline ${path}: ${asError(cause).message}`, { cause });
  }
  try {
    const { runs } = RunFile.parse(JSON.parse(text));
    return runs.map(({ fusion, scores, ...run }) => ({
      ...run,
      ...(fusion && { fusion }),
      scores: new Map(Object.entries(scores)),
    }));
  } catch (cause) {
    const wayOut = "a baseline is a file that --output wrote";
    throw new LoadError("malformed", path, `${path} holds no scores by query: ${wayOut}`, { cause });
  }
}

/**
 * The run of a baseline to compare with: the one that searched in the same way, or the only one there is, so that one mode can be
 * compared with another.
 *
 * @throws OptionsError when it is of another collection, or has none for this mode.
 */
export function baselineFor(
  runs: readonly BaselineRun[],
  { collection, ...plan }: EvalPlan & { readonly collection: string },
): BaselineRun {
  const [first] = runs;
  const name = planName(plan);
  const found = runs.find((run) => planName(run) === name) ?? (runs.length === 1 ? first : undefined);
  if (!found) throw new OptionsError("options", `The baseline has ${runs.length} runs, and none of mode ${name}`);
  if (found.collection !== collection) {
    throw new OptionsError("options", `The baseline is of collection ${found.collection}, not of ${collection}`);
  }
  return found;
}

export const headings: Record<MetricName, string> = {
  "ndcg@10": "nDCG@10",
  "recall@100": "Recall@100",
  "mrr@10": "MRR@10",
  map: "MAP",
};

/** A table of runs with intervals, and below it what changed against the baseline. */
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
  const head = [`${planName(run)} against the baseline`, "before", "change", "p", ""];
  const rows = metricNames.map((metric) => {
    const { baseline, difference, p, verdict } = comparison.metrics[metric];
    const change = `${difference < 0 ? "" : "+"}${difference.toFixed(3)}`;
    return [
      headings[metric],
      baseline.toFixed(3),
      change,
      p.toFixed(4),
      verdict === "same" ? "no clear change" : verdict,
    ];
  });
  return [...table([head, ...rows]), `${comparison.queries} queries asked by both`, ""];
}

export function planName({ mode, rerank, fusion }: EvalPlan): string {
  const fusing = fusion ? ` k=${fusion.k} ${fusion.weights.dense}:${fusion.weights.lexical}` : "";
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
