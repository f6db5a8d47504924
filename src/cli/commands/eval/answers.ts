import { join, resolve } from "node:path";
import { OptionsError } from "../../../core/errors.js";
import type { Answer } from "../../../core/types.js";
import { type Collection, type JudgedQuery, readAnswers } from "../../../evaluate/collection.js";
import {
  answerMetricNames,
  evaluateAnswers,
  type AnswerableQuery,
  type AnswerEvaluation,
} from "../../../evaluate/evaluate-answers.js";
import {
  judgeAnswer,
  type JudgedAnswers,
  type Judgement,
  judgeRubric,
  summariseJudgements,
} from "../../../evaluate/judge-answer.js";
import type { KnowledgeBase } from "../../../knowledge-base/options.js";
import { chatModel } from "../../../models/chat-model.js";
import { collectAnswer } from "../../../stages/answering/answer.js";
import { configuredTransport, print, readSettings, type CommandIo } from "../../command-context.js";
import { exitCodes } from "../../output/failure.js";
import { count, counted } from "../../output/figures.js";
import { describeSteps, progressLine } from "../../output/progress.js";
import { writeText } from "../../output/write-text.js";
import { chosenQueries, ingestCollection, openEvalCollection, withEvalStore, type EvalFlags } from "./collection.js";
import { answersReport } from "./report.js";
import { answerHeadings } from "./runs.js";

/** The measured answers to a collection's questions. */
interface AnswerRun extends AnswerEvaluation {
  readonly collection: string;
  /** The same questions without their relevant documents, and how many were declined. */
  readonly unanswerable: { readonly questions: number; readonly abstained: number; readonly removedDocuments: number };
  /** Judgements of the answers by a model, with its rubric. */
  readonly judged?: JudgedAnswers & { readonly model: string; readonly rubric: typeof judgeRubric };
}

interface Judge {
  readonly model: string;
  readonly judge: (answer: Answer) => Promise<void>;
  readonly judgements: readonly Judgement[];
}

/** Asks a collection's questions, then deletes the documents that hold the answers and asks again. */
export async function evalAnswers(io: CommandIo, folder: string, flags: EvalFlags): Promise<number> {
  const path = (file: string) => resolve(io.directory, file);
  if (flags.store !== undefined) {
    throw new OptionsError(
      "options",
      "--answers deletes documents to see whether questions without an answer are declined: use it without --store",
    );
  }
  const collection = await openEvalCollection(io, folder, flags);
  const answers = await readAnswers(join(path(folder), "answers.jsonl"), io.signal);
  const queries = chosenQueries(collection.queries, flags).flatMap((query) => {
    const known = answers.get(query.id);
    return known ? [{ ...query, answers: known }] : [];
  });
  if (queries.length === 0)
    throw new OptionsError("options", `${folder}/answers.jsonl has no answer to any of the queries`);
  const run = await withJudge(io, flags, (judge) =>
    withEvalStore(io, flags, async (kb) => {
      await ingestCollection(io, kb, collection);
      return measureAnswers(io, kb, collection, queries, judge);
    }),
  );
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

/** Passes `use` the judge that `--judge` names, at the service that the settings name. */
async function withJudge<T>(
  io: CommandIo,
  flags: EvalFlags,
  use: (judge: Judge | undefined) => Promise<T>,
): Promise<T> {
  const { judge: model } = flags;
  if (model === undefined) return use(undefined);
  const transport = configuredTransport(io, readSettings(io, flags));
  if (transport === undefined) {
    throw new OptionsError(
      "options",
      "--judge needs a service with a model that can judge: name the service with --base-url",
    );
  }
  try {
    const chat = chatModel(transport, { model });
    const judgements: Judgement[] = [];
    return await use({
      model,
      judgements,
      judge: async (answer) => {
        judgements.push(await judgeAnswer(chat, answer, { signal: io.signal }));
      },
    });
  } finally {
    await transport.close();
  }
}

async function measureAnswers(
  { notes, signal }: CommandIo,
  kb: KnowledgeBase,
  { name, source, documentId }: Collection,
  queries: readonly AnswerableQuery[],
  judge: Judge | undefined,
): Promise<AnswerRun> {
  const startedAt = performance.now();
  const line = progressLine(notes, (done: number) => describeSteps(done, 2 * queries.length, startedAt, "answer"));
  let done = 0;
  const ask = (question: string) => collectAnswer(kb.ask(question, { signal })).finally(() => line.update(++done));
  try {
    const evaluation = await evaluateAnswers(queries, {
      ask,
      textOf: async (uri) => (await kb.store.document(uri))?.text,
      documentId,
      // An answer that declines makes no statements to judge.
      onAnswer: async (_, answer) => (answer.answered ? judge?.judge(answer) : undefined),
      signal,
    });
    const removed = await kb.store.deleteDocuments([...relevantDocuments(queries)].map((id) => `${source}/${id}`));
    let abstained = 0;
    for (const { text } of queries) if (!(await ask(text)).answered) abstained++;
    const unanswerable = { questions: queries.length, abstained, removedDocuments: removed.documents };
    const judged = judge && { model: judge.model, rubric: judgeRubric, ...summariseJudgements(judge.judgements) };
    return { collection: name, ...evaluation, unanswerable, ...(judged && { judged }) };
  } finally {
    line.clear();
  }
}

function relevantDocuments(queries: readonly JudgedQuery[]): ReadonlySet<string> {
  return new Set(queries.flatMap(({ judgements }) => [...judgements].filter(([, gain]) => gain > 0).map(([id]) => id)));
}

function describeAnswers(run: AnswerRun) {
  const { collection, questions, metrics, intervals, citations, unanswerable, latencyMs, judged } = run;
  const rows = answerMetricNames.map((metric) => {
    const [low, high] = intervals[metric];
    return `${answerHeadings[metric].padEnd(32)} ${metrics[metric].toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  });
  const { abstained, removedDocuments } = unanswerable;
  const share = (abstained / unanswerable.questions).toFixed(3);
  return `${[
    `${collection}: ${counted(questions, "question")}. Means, with 95 % intervals.`,
    "",
    ...rows,
    `${"Abstained without the source".padEnd(32)} ${share} (${counted(removedDocuments, "document")} removed)`,
    `${"Supported citations, literal".padEnd(32)} ${count(citations.literal)} of ${count(citations.supported)}, of ${counted(citations.total, "citation")}; ${count(citations.near)} near`,
    `${"Time of an answer".padEnd(32)} p50 ${latencyMs.p50.toFixed(0)} ms, p95 ${latencyMs.p95.toFixed(0)} ms`,
    ...(judged ? describeJudged(judged) : []),
  ].join("\n")}\n`;
}

function describeJudged({ model, rubric, answers, failed, faithfulness, relevance }: NonNullable<AnswerRun["judged"]>) {
  const score = (value: number | undefined) => value?.toFixed(3) ?? "unknown";
  return [
    "",
    `Judged by ${model}: ${counted(answers, "answer")}, ${counted(failed, "judgement")} could not be read and left out.`,
    `${"Faithfulness".padEnd(32)} ${score(faithfulness)}`,
    ...rubric.faithfulness.map((line) => `  ${line}`),
    `${"Relevance".padEnd(32)} ${score(relevance)}`,
    ...rubric.relevance.map((line) => `  ${line}`),
    "Steps 1 to 5 count as 0, 0.25, 0.5, 0.75 and 1.",
  ];
}
