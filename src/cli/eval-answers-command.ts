import { join, resolve } from "node:path";
import { OptionsError } from "../errors.js";
import { openCollection, type Collection, type JudgedQuery } from "../evaluate/collection.js";
import {
  answerMetricNames,
  evaluateAnswers,
  type AnswerableQuery,
  type AnswerEvaluation,
} from "../evaluate/evaluate-answers.js";
import { judgeAnswer, judgeRubric } from "../evaluate/judge-answer.js";
import { JudgeTally, type JudgedAnswers } from "../evaluate/judge-tally.js";
import { readAnswers } from "../evaluate/read-answers.js";
import type { KnowledgeBase } from "../knowledge-base-options.js";
import { chatModel } from "../models/chat-model.js";
import { collectAnswer } from "../stages/collect-answer.js";
import type { Answer } from "../types.js";
import { configuredTransport, settingsOf, type World } from "./command-context.js";
import { chosenQueries, ingestCollection, withEvalStore, type EvalFlags } from "./eval-command.js";
import { writeText } from "./eval-run.js";
import { exitCodes } from "./failure.js";
import { count, counted } from "./counted.js";
import { progressLine } from "./progress-line.js";

/** What answering a collection's questions came to. */
interface AnswerRun extends AnswerEvaluation {
  readonly collection: string;
  /** The same questions once more, without their relevant documents: how many were said to have no answer. */
  readonly unanswerable: { readonly questions: number; readonly abstained: number; readonly removedDocuments: number };
  /** What a model made of the answers, by what rubric. */
  readonly judged?: JudgedAnswers & { readonly model: string; readonly rubric: typeof judgeRubric };
}

/** Judges one answer more. */
interface Judge {
  readonly model: string;
  readonly judge: (answer: Answer) => Promise<void>;
  readonly tally: JudgeTally;
}

/** Asks a collection's questions; then takes away the documents that answer them, and asks again. */
export async function evalAnswersCommand(world: World, folder: string, flags: EvalFlags): Promise<number> {
  const path = (given: string) => resolve(world.directory, given);
  if (flags.store !== undefined) {
    throw new OptionsError("options", "--answers takes documents away to see who abstains: it goes without --store");
  }
  const collection = await openCollection(
    path(folder),
    {
      ...(flags.queries !== undefined && { queries: path(flags.queries) }),
      ...(flags.qrels !== undefined && { qrels: path(flags.qrels) }),
    },
    world.signal,
  );
  const answers = await readAnswers(join(path(folder), "answers.jsonl"), world.signal);
  const queries = chosenQueries(collection.queries, flags).flatMap((query) => {
    const known = answers.get(query.id);
    return known ? [{ ...query, answers: known }] : [];
  });
  if (queries.length === 0) throw new OptionsError("options", `${folder}/answers.jsonl answers none of the queries`);
  const run = await withJudge(world, flags, (judge) =>
    withEvalStore(world, flags, async (kb) => {
      await ingestCollection(world, kb, collection);
      return measureAnswers(world, kb, collection, queries, judge);
    }),
  );
  const { scores, ...told } = run;
  if (flags.output !== undefined) {
    await writeText(
      path(flags.output),
      `${JSON.stringify({ ...told, scores: Object.fromEntries(scores) }, null, 1)}\n`,
    );
  }
  world.stdout.write(flags.json ? `${JSON.stringify(told)}\n` : describeAnswers(run));
  return exitCodes.done;
}

/** Gives the model that `--judge` names, over the service that the settings name. */
async function withJudge<T>(world: World, flags: EvalFlags, use: (judge: Judge | undefined) => Promise<T>): Promise<T> {
  const { judge: model } = flags;
  if (model === undefined) return use(undefined);
  const transport = configuredTransport(settingsOf(world, flags), world.environment);
  if (transport === undefined) {
    throw new OptionsError("options", "--judge needs a service with a model that can judge: name it with --base-url");
  }
  try {
    const chat = chatModel(transport, { model });
    const tally = new JudgeTally();
    return await use({
      model,
      tally,
      judge: async (answer) => tally.add(await judgeAnswer(chat, answer, { signal: world.signal })),
    });
  } finally {
    await transport.close();
  }
}

async function measureAnswers(
  { stderr, signal }: World,
  kb: KnowledgeBase,
  { name, source, documentId }: Collection,
  queries: readonly AnswerableQuery[],
  judge: Judge | undefined,
): Promise<AnswerRun> {
  const line = progressLine(stderr, (done: number) => `${count(done)} of ${counted(2 * queries.length, "answer")}`);
  let done = 0;
  const ask = (question: string) => collectAnswer(kb.ask(question, { signal })).finally(() => line.update(++done));
  try {
    const evaluation = await evaluateAnswers(queries, {
      ask,
      textOf: async (uri) => (await kb.store.document(uri))?.text,
      documentId,
      // What says that there is no answer has no statements to judge.
      onAnswer: async (_, answer) => (answer.answered ? judge?.judge(answer) : undefined),
      signal,
    });
    const removed = await kb.store.deleteDocuments([...relevantDocuments(queries)].map((id) => `${source}/${id}`));
    let abstained = 0;
    for (const { text } of queries) if (!(await ask(text)).answered) abstained++;
    const unanswerable = { questions: queries.length, abstained, removedDocuments: removed.documents };
    const judged = judge && { model: judge.model, rubric: judgeRubric, ...judge.tally.result() };
    return { collection: name, ...evaluation, unanswerable, ...(judged && { judged }) };
  } finally {
    line.clear();
  }
}

function relevantDocuments(queries: readonly JudgedQuery[]): ReadonlySet<string> {
  return new Set(queries.flatMap(({ judgements }) => [...judgements].filter(([, gain]) => gain > 0).map(([id]) => id)));
}

const headings: Record<(typeof answerMetricNames)[number], string> = {
  exactMatch: "Exact match",
  tokenF1: "Token F1",
  topCitation: "Top citation holds the answer",
  citationPrecision: "Citation precision",
  citationRecall: "Citation recall",
  answered: "Answered",
};

function describeAnswers(run: AnswerRun) {
  const { collection, questions, metrics, intervals, citations, unanswerable, latencyMs, judged } = run;
  const rows = answerMetricNames.map((metric) => {
    const [low, high] = intervals[metric];
    return `${headings[metric].padEnd(32)} ${metrics[metric].toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  });
  const { abstained, removedDocuments } = unanswerable;
  const share = (abstained / unanswerable.questions).toFixed(3);
  return `${[
    `${collection}: ${counted(questions, "question")}. Means, with 95 % intervals.`,
    "",
    ...rows,
    `${"Abstained without the source".padEnd(32)} ${share} (${counted(removedDocuments, "document")} taken away)`,
    `${"Supported citations, literal".padEnd(32)} ${count(citations.literal)} of ${count(citations.supported)}, of ${counted(citations.total, "citation")}`,
    `${"Time of an answer".padEnd(32)} p50 ${latencyMs.p50.toFixed(0)} ms, p95 ${latencyMs.p95.toFixed(0)} ms`,
    ...(judged ? describeJudged(judged) : []),
  ].join("\n")}\n`;
}

function describeJudged({ model, rubric, answers, failed, faithfulness, relevance }: NonNullable<AnswerRun["judged"]>) {
  const score = (value: number | undefined) => value?.toFixed(3) ?? "not known";
  return [
    "",
    `Judged by ${model}: ${counted(answers, "answer")}, ${counted(failed, "judgement")} left out that could not be read.`,
    `${"Faithfulness".padEnd(32)} ${score(faithfulness)}`,
    ...rubric.faithfulness.map((line) => `  ${line}`),
    `${"Relevance".padEnd(32)} ${score(relevance)}`,
    ...rubric.relevance.map((line) => `  ${line}`),
    "Steps 1 to 5 count as 0, 0.25, 0.5, 0.75 and 1.",
  ];
}
