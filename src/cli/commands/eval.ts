import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import type { Collection } from "../../evaluate/collection.js";
import { compare } from "../../evaluate/compare.js";
import { documentsOf, evaluate, rankDocuments, rankingDepth, shortenQuery } from "../../evaluate/evaluate.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { explainStop, print, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count, counted } from "../output/figures.js";
import { describeSteps, progressLine } from "../output/progress.js";
import { writeText } from "../output/write-text.js";
import { loadVega } from "../report/draw-chart.js";
import { given } from "../../core/given.js";
import {
  chosenQueries,
  ingestCollection,
  openEvalCollection,
  withEvalStore,
  type EvalFlags,
} from "./eval/collection.js";
import { evalReport } from "./eval/report.js";
import {
  baselineFor,
  describeRuns,
  evalPlans,
  planName,
  readBaseline,
  runAsJson,
  writeRuns,
  type EvalPlan,
  type EvalRun,
} from "./eval/runs.js";

/** Passages that search hands to the reranker. */
const rerankDepth = 100;

export async function evalCommand(io: CommandIo, folder: string, flags: EvalFlags): Promise<number> {
  // A page that cannot be drawn is refused before the long work starts.
  if (flags.report !== undefined) await loadVega();
  const evaluateFolder = flags.answers ? await answersEvaluation(io, folder, flags) : evalSearch;
  const kept = flags.store === undefined ? "name a --store to keep what is embedded" : "what was embedded is kept";
  const stopped = `Stopped without a result; ${kept}. Run the same command again.\n`;
  return explainStop(io, stopped, evaluateFolder(io, folder, flags));
}

/** A folder without a collection's files is one of documents, when a file of questions about them is named. */
async function answersEvaluation(io: CommandIo, folder: string, { queries }: EvalFlags) {
  const isCollection = queries === undefined || existsSync(resolve(io.directory, folder, "corpus.jsonl"));
  return isCollection
    ? (await import("./eval/answers.js")).evalAnswers
    : (await import("./eval/passages.js")).evalPassages;
}

async function evalSearch(io: CommandIo, folder: string, flags: EvalFlags): Promise<number> {
  if (flags.judge !== undefined) {
    throw new OptionsError("options", "--judge judges answers, not searches: use it with --answers");
  }
  const path = (file: string) => resolve(io.directory, file);
  const collection = await openEvalCollection(io, folder, flags);
  const plans = evalPlans(flags).map((plan) => ({ collection: collection.name, ...plan }));
  // A baseline that does not fit is refused before the long work starts.
  const baselines = flags.baseline === undefined ? undefined : await readBaseline(path(flags.baseline));
  const planned = plans.map((plan) => ({ plan, baseline: baselines && baselineFor(baselines, plan) }));

  const runs = await withEvalStore(io, flags, async (kb) => {
    await ingestCollection(io, kb, collection);
    const measured: EvalRun[] = [];
    for (const { plan, baseline } of planned) {
      const evaluation = await measure(io, kb, collection, plan, flags);
      const comparison = baseline && compare(evaluation.scores, baseline.scores);
      measured.push({ ...plan, ...evaluation, ...(comparison && { comparison }) });
    }
    return measured;
  });

  if (flags.report !== undefined) {
    const baselinesOfRuns = planned.map(({ baseline }) => baseline);
    await writeText(path(flags.report), await evalReport({ collection, runs, baselines: baselinesOfRuns }));
  }
  if (flags.output !== undefined) await writeRuns(path(flags.output), runs);
  const objects = runs.map(runAsJson);
  const table = `${describeCollection(collection, runs)}

${describeRuns(runs)}`;
  print(io, flags, objects.length === 1 ? objects[0]! : { runs: objects }, table);
  return runs.some(({ comparison }) => comparison?.worse) ? exitCodes.failures : exitCodes.done;
}

async function measure(
  { notes, signal }: CommandIo,
  kb: KnowledgeBase,
  collection: Collection,
  plan: EvalPlan,
  flags: EvalFlags,
) {
  const { mode, rerank, fusion } = plan;
  const options = { mode, syntax: false, signal, ...given({ fusion }) };
  const queries = chosenQueries(collection.queries, flags);
  const startedAt = performance.now();
  const line = progressLine(
    notes,
    (done: number) => `${planName(plan)}: ${describeSteps(done, queries.length, startedAt, "query", "queries")}`,
  );
  const rank = async (question: string): Promise<readonly string[]> => {
    if (rerank) {
      const { hits } = await kb.search(question, { ...options, count: rerankDepth, topN: rerankDepth });
      return documentsOf(hits);
    }
    return rankDocuments(
      async (wanted) => (await kb.search(question, { ...options, count: wanted })).hits,
      rankingDepth,
    );
  };
  let shortenedQueries = 0;
  const evaluation = await evaluate(
    queries,
    async ({ text }) => {
      const { result, shortened } = await shortenQuery(text, rank);
      if (shortened) shortenedQueries++;
      return result.map(collection.documentId);
    },
    { onProgress: (done) => line.update(done), signal },
  ).finally(() => line.clear());
  return { ...evaluation, shortenedQueries };
}

function describeCollection({ name, queries, withoutRelevant }: Collection, runs: readonly EvalRun[]): string {
  const asked = runs[0]?.queries ?? 0;
  const askedOf = asked < queries.length ? `${count(asked)} of ` : "";
  const skipped = [
    "more has no relevant document and was not asked",
    "more have no relevant document and were not asked",
  ] as const;
  const left = withoutRelevant > 0 ? `; ${counted(withoutRelevant, ...skipped)}` : "";
  const shortened = Math.max(0, ...runs.map(({ shortenedQueries }) => shortenedQueries));
  const cut = shortened > 0 ? `; ${counted(shortened, "was", "were")} shortened to what the embedding model takes` : "";
  return `${name}: ${askedOf}${counted(askedOf ? queries.length : asked, "query", "queries")}${left}${cut}. Means, with 95 % intervals.`;
}
