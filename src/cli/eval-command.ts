import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LoadError, OptionsError } from "../errors.js";
import { openCollection, sample, spread, type Collection } from "../evaluate/collection.js";
import { compare } from "../evaluate/compare.js";
import { evaluate, rankingDepth } from "../evaluate/evaluate.js";
import { documentsOf, rankDocuments } from "../evaluate/rank-documents.js";
import { shortenQuery } from "../evaluate/shorten-query.js";
import type { KnowledgeBase } from "../knowledge-base-options.js";
import { documentSource } from "../load/source.js";
import type { SearchMode } from "../stages/search.js";
import { count, counted } from "./counted.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { evalPlans } from "./eval-plans.js";
import { evalReport } from "./eval-report.js";
import {
  baselineFor,
  describeRuns,
  planName,
  readBaseline,
  runAsJson,
  writeRuns,
  writeText,
  type EvalPlan,
  type EvalRun,
} from "./eval-run.js";
import { exitCodes } from "./failure.js";
import { describeProgress, progressLine } from "./progress-line.js";

export interface EvalFlags extends StoreFlags {
  readonly mode?: readonly SearchMode[];
  readonly rerank?: boolean;
  readonly limitQueries?: number;
  readonly seed?: number;
  readonly queries?: string;
  readonly qrels?: string;
  readonly grid?: boolean;
  readonly report?: string;
  readonly output?: string;
  readonly baseline?: string;
  readonly answers?: boolean;
  readonly judge?: string;
}

/** Passages that are reranked. */
const rerankDepth = 100;

export async function evalCommand(world: World, folder: string, flags: EvalFlags): Promise<number> {
  if (flags.judge !== undefined) throw new OptionsError("options", "--judge judges answers: it goes with --answers");
  const path = (given: string) => resolve(world.directory, given);
  const collection = await openCollection(
    path(folder),
    {
      ...(flags.queries !== undefined && { queries: path(flags.queries) }),
      ...(flags.qrels !== undefined && { qrels: path(flags.qrels) }),
    },
    world.signal,
  );
  const { mode: modes, rerank = false, grid = false } = flags;
  const plans = evalPlans({ modes, rerank, grid }).map((plan) => ({ collection: collection.name, ...plan }));
  // Before the long work: a baseline that does not fit is found out at once.
  const baselines = flags.baseline === undefined ? undefined : await readBaseline(path(flags.baseline));
  const planned = plans.map((plan) => ({ plan, baseline: baselines && baselineFor(baselines, plan) }));

  const runs = await withEvalStore(world, flags, async (kb) => {
    await ingestCollection(world, kb, collection);
    const measured: EvalRun[] = [];
    for (const { plan, baseline } of planned) {
      const evaluation = await measure(world, kb, collection, plan, flags);
      const comparison = baseline && compare(evaluation.scores, baseline.scores);
      measured.push({ ...plan, ...evaluation, ...(comparison && { comparison }) });
    }
    return measured;
  });

  if (flags.report !== undefined) {
    await writeText(
      path(flags.report),
      evalReport({ collection, runs, baselines: planned.map(({ baseline }) => baseline) }),
    );
  }
  if (flags.output !== undefined) await writeRuns(path(flags.output), runs);
  if (flags.json) {
    const objects = runs.map(runAsJson);
    world.stdout.write(`${JSON.stringify(objects.length === 1 ? objects[0] : { runs: objects })}\n`);
  } else world.stdout.write(`${describeCollection(collection, runs)}\n\n${describeRuns(runs)}`);
  return runs.some(({ comparison }) => comparison?.worse) ? exitCodes.failures : exitCodes.done;
}

/** Says what a measurement leaves that is stopped. */
export async function tellingStop<T>(world: World, { store }: EvalFlags, measuring: Promise<T>): Promise<T> {
  try {
    return await measuring;
  } catch (error) {
    if (world.signal.aborted) {
      const kept = store === undefined ? "name a --store to keep what is embedded" : "what was embedded is kept";
      world.stderr.write(`Stopped without a result; ${kept}. Run the same command again.\n`);
    }
    throw error;
  }
}

/** The store that was named, which stays, or a temporary one, which goes whatever happens. */
export async function withEvalStore<T>(
  world: World,
  flags: EvalFlags,
  use: (kb: KnowledgeBase) => Promise<T>,
): Promise<T> {
  const temporary = flags.store === undefined ? await mkdtemp(join(tmpdir(), "citewell-eval-")) : undefined;
  try {
    return await withKnowledgeBase(world, temporary === undefined ? flags : { ...flags, store: temporary }, true, use);
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

export async function ingestCollection(
  { stderr, signal }: World,
  kb: KnowledgeBase,
  collection: Collection,
): Promise<void> {
  const { name, source } = collection;
  const foreign = (await kb.store.documents()).find((stored) => stored.source !== source);
  if (foreign) {
    throw new OptionsError(
      "options",
      `The store at ${kb.store.location} holds ${foreign.uri}, which is not of ${name}: search would find it too. ` +
        "Name a store of its own for each collection",
    );
  }
  const line = progressLine(stderr, describeProgress);
  const documents = documentSource({
    id: source,
    read: ({ signal: reading }) => collection.documents(reading),
    vanished: (uri) => uri.startsWith(`${source}/`),
  });
  const report = await kb
    .ingest(documents, { signal, onProgress: (progress) => line.update(progress) })
    .finally(() => line.clear());
  const [failure] = report.failures;
  if (failure) {
    const { failed } = report.documents;
    throw new LoadError(
      "unreadable",
      failure.uri,
      `${counted(failed, "document")} of ${name} could not be stored, so that nothing was measured; ` +
        `${failure.uri} first: ${failure.error.message}`,
      { cause: failure.error },
    );
  }
}

/** The queries that the flags leave. */
export function chosenQueries<Query>(
  queries: readonly Query[],
  { limitQueries = Infinity, seed }: EvalFlags,
): readonly Query[] {
  return seed === undefined ? spread(queries, limitQueries) : sample(queries, limitQueries, seed);
}

async function measure(
  { stderr, signal }: World,
  kb: KnowledgeBase,
  collection: Collection,
  plan: EvalPlan,
  flags: EvalFlags,
) {
  const { mode, rerank, fusion } = plan;
  const options = { mode, syntax: false, signal, ...(fusion && { fusion }) };
  const queries = chosenQueries(collection.queries, flags);
  const startedAt = performance.now();
  const line = progressLine(stderr, (done: number) => {
    const perSecond = (done / (performance.now() - startedAt)) * 1000;
    return `${planName(plan)}: ${count(done)} of ${counted(queries.length, "query", "queries")}  ${perSecond.toFixed(1)} queries/s`;
  });
  const rank = async (question: string): Promise<readonly string[]> => {
    if (rerank) {
      const { hits } = await kb.search(question, { ...options, limit: rerankDepth, rerank: rerankDepth });
      return documentsOf(hits);
    }
    return rankDocuments(async (limit) => (await kb.search(question, { ...options, limit })).hits, rankingDepth);
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
  const of = asked < queries.length ? `${count(asked)} of ` : "";
  const unasked = [
    "more has nothing relevant and was not asked",
    "more have nothing relevant and were not asked",
  ] as const;
  const left = withoutRelevant > 0 ? `; ${counted(withoutRelevant, ...unasked)}` : "";
  const most = Math.max(0, ...runs.map(({ shortenedQueries }) => shortenedQueries));
  const cut = most > 0 ? `; ${counted(most, "was", "were")} shortened to what the embedding model takes` : "";
  return `${name}: ${of}${counted(of ? queries.length : asked, "query", "queries")}${left}${cut}. Means, with 95 % intervals.`;
}
