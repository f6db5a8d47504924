import { join, resolve } from "node:path";
import { OptionsError } from "../../../core/errors.js";
import type { Filter } from "../../../core/filter.js";
import { given } from "../../../core/given.js";
import { type Collection, type JudgedQuery, readAnswers } from "../../../evaluate/collection.js";
import {
  answerMetricNames,
  evaluateAnswers,
  type AnswerableQuery,
  type AnswerEvaluation,
} from "../../../evaluate/evaluate-answers.js";
import { bootstrapInterval, type Interval } from "../../../evaluate/statistics.js";
import type { KnowledgeBase } from "../../../knowledge-base/options.js";
import { collectAnswer } from "../../../stages/answering/answer.js";
import type { AnswerToJudge } from "../../../tuning/judge-answers.js";
import { print, readSettings, type CommandIo } from "../../command-context.js";
import { exitCodes } from "../../output/failure.js";
import { count, counted } from "../../output/figures.js";
import { describeSteps, progressLine } from "../../output/progress.js";
import { writeText } from "../../output/write-text.js";
import { chosenQueries, ingestCollection, openEvalCollection, withEvalStore, type EvalFlags } from "./collection.js";
import { checkJudge, describeJudged, type Judged, judgedByFlag } from "./judged.js";
import { answersReport } from "./report.js";
import { answerHeadings } from "./runs.js";

/** The measured answers to a collection's questions. */
interface AnswerRun extends AnswerEvaluation {
  readonly collection: string;
  /** The same questions, each with its own relevant documents hidden, and how many were declined. */
  readonly unanswerable: { readonly questions: number; readonly abstained: number };
  /** Both kinds of error as shares of the questions, with 95 % intervals. */
  readonly errors: { readonly wronglyAnswered: ErrorShare; readonly wronglyDeclined: ErrorShare };
  /** Answers as a model judged them. */
  readonly judged?: Judged;
}

interface ErrorShare {
  readonly share: number;
  readonly interval: Interval;
}

/** Asks a collection's questions, each with all documents and again with those hidden that hold its answer. */
export async function evalAnswers(io: CommandIo, folder: string, flags: EvalFlags): Promise<number> {
  const path = (file: string) => resolve(io.directory, file);
  const collection = await openEvalCollection(io, folder, flags);
  const answers = await readAnswers(join(path(folder), "answers.jsonl"), io.signal);
  const queries = chosenQueries(collection.queries, flags).flatMap((query) => {
    const known = answers.get(query.id);
    return known ? [{ ...query, answers: known }] : [];
  });
  if (!queries.some((query) => query.answers.length > 0))
    throw new OptionsError("options", `${folder}/answers.jsonl has no answer to any of the queries`);
  checkJudge(flags, readSettings(io, flags));
  const toJudge: AnswerToJudge[] = [];
  const measured = await withEvalStore(io, flags, async (kb) => {
    await ingestCollection(io, kb, collection);
    return measureAnswers(io, kb, collection, queries, (answer) => toJudge.push(answer));
  });
  const judged = await judgedByFlag(io, flags, toJudge);
  const run: AnswerRun = { ...measured, ...given({ judged }) };
  const { scores, durationsMs: _, ...summary } = run;
  if (flags.report !== undefined) await writeText(path(flags.report), await answersReport(collection.name, run));
  if (flags.output !== undefined) {
    await writeText(
      path(flags.output),
      `${JSON.stringify({ ...summary, scores: Object.fromEntries(scores) }, null, 1)}\n`,
    );
  }
  print(io, flags, summary, describeAnswers(run));
  return exitCodes.done;
}

async function measureAnswers(
  { notes, signal }: CommandIo,
  kb: KnowledgeBase,
  { name, source, documentId }: Collection,
  queries: readonly AnswerableQuery[],
  onAnswer: (answer: AnswerToJudge) => void,
): Promise<AnswerRun> {
  const startedAt = performance.now();
  const answerable = queries.filter(({ answers }) => answers.length > 0);
  const line = progressLine(notes, (done: number) => describeSteps(done, 2 * answerable.length, startedAt, "answer"));
  let done = 0;
  const ask = (question: string, filter?: Filter) =>
    collectAnswer(kb.ask(question, { signal, ...given({ filter }) })).finally(() => line.update(++done));
  try {
    const evaluation = await evaluateAnswers(queries, {
      ask: (question) => ask(question),
      textOf: async (uri) => (await kb.store.document(uri))?.text,
      documentId,
      onAnswer: ({ answers: [expected] }, answer) => onAnswer({ answer, ...given({ expected }) }),
      signal,
    });
    const answeredWithout: number[] = [];
    for (const query of answerable) {
      // Hidden from this question alone: without the documents of all questions, a small collection would be empty.
      const filter = { not: { uri: { in: relevantDocuments(query).map((id) => `${source}/${id}`) } } };
      answeredWithout.push((await ask(query.text, filter)).answered ? 1 : 0);
    }
    const declined = [...evaluation.scores.values()].map(({ answered }) => 1 - answered);
    const errors = { wronglyAnswered: errorShare(answeredWithout), wronglyDeclined: errorShare(declined) };
    const abstained = answeredWithout.filter((answered) => answered === 0).length;
    const unanswerable = { questions: answerable.length, abstained };
    return { collection: name, ...evaluation, unanswerable, errors };
  } finally {
    line.clear();
  }
}

function relevantDocuments({ judgements }: JudgedQuery): string[] {
  return [...judgements].flatMap(([id, gain]) => (gain > 0 ? [id] : []));
}

function errorShare(isWrong: readonly number[]): ErrorShare {
  const share = isWrong.reduce((sum, value) => sum + value, 0) / isWrong.length;
  return { share, interval: bootstrapInterval(isWrong) };
}

function describeAnswers(run: AnswerRun) {
  const { collection, questions, withoutAnswers, metrics, intervals, citations, errors, latencyMs, judged } = run;
  const rows = answerMetricNames.map((metric) => {
    const [low, high] = intervals[metric];
    return `${answerHeadings[metric].padEnd(32)} ${metrics[metric].toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  });
  const error = (name: string, { share, interval: [low, high] }: ErrorShare) =>
    `${name.padEnd(32)} ${share.toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  return `${[
    `${collection}: ${counted(questions, "question")}. Means, with 95 % intervals.`,
    ...(withoutAnswers > 0 ? [`${counted(withoutAnswers, "question")} left out, without a known answer.`] : []),
    "",
    ...rows,
    error("Declined with the source", errors.wronglyDeclined),
    error("Answered without the source", errors.wronglyAnswered),
    `${"Supported citations, literal".padEnd(32)} ${count(citations.literal)} of ${count(citations.supported)}, of ${counted(citations.total, "citation")}; ${count(citations.near)} near`,
    `${"Time of an answer".padEnd(32)} p50 ${latencyMs.p50.toFixed(0)} ms, p95 ${latencyMs.p95.toFixed(0)} ms`,
    ...(judged ? ["", ...describeJudged(judged)] : []),
  ].join("\n")}\n`;
}
