import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { given } from "../../../core/given.js";
import { LoadError, OptionsError } from "../../../core/errors.js";
import { answerFlawNames, type AnswerFlaw } from "../../../evaluate/answer-flaws.js";
import {
  evaluatePassages,
  type KindOfAnswers,
  type PassageOutcome,
  type PassageQuestion,
  readPassageQuestions,
} from "../../../evaluate/evaluate-passages.js";
import { explainLosses } from "../../../evaluate/explain-losses.js";
import { holdsAnswer } from "../../../evaluate/metrics.js";
import { readFolder } from "../../../load/sources/read-folder.js";
import { collectAnswer } from "../../../stages/answering/answer.js";
import { print, readSettings, type CommandIo } from "../../command-context.js";
import { exitCodes } from "../../output/failure.js";
import { counted } from "../../output/figures.js";
import { describeSteps, ingestProgress, progressLine } from "../../output/progress.js";
import { writeText } from "../../output/write-text.js";
import { chosenQueries, withEvalStore, type EvalFlags } from "./collection.js";
import { checkJudge, describeJudged, judgedByFlag } from "./judged.js";
import { describeLosses, passagesReport } from "./losses.js";

/** Asks questions whose expected passages are known about a folder of documents, and reports by kind of question. */
export async function evalPassages(io: CommandIo, folder: string, flags: EvalFlags): Promise<number> {
  const { queries, report, output } = flags;
  if (queries === undefined) {
    throw new OptionsError("options", "A folder of documents is measured with --answers and --queries");
  }
  const path = resolve(io.directory, folder);
  const questions = chosenQueries(await readPassageQuestions(resolve(io.directory, queries), io.signal), flags);
  checkJudge(flags, readSettings(io, flags));
  await checkPassages(path, questions);
  const outcomes: PassageOutcome[] = [];
  const { kinds, losses } = await withEvalStore(io, flags, async (kb) => {
    const ingesting = ingestProgress(io);
    await kb
      .ingest(readFolder(path), { signal: io.signal, onProgress: ingesting.onProgress })
      .finally(() => ingesting.clear());
    const startedAt = performance.now();
    const line = progressLine(io.notes, (done: number) => describeSteps(done, questions.length, startedAt, "answer"));
    const measured = await evaluatePassages(questions, {
      ask: (question) => collectAnswer(kb.ask(question, { signal: io.signal })),
      textOf: async (uri) => (await kb.store.document(uri))?.text,
      onAnswer: (outcome) => line.update(outcomes.push(outcome)),
      signal: io.signal,
    }).finally(() => line.clear());
    const uriOf = (uri: string) => (URL.canParse(uri) ? uri : pathToFileURL(join(path, uri)).href);
    const explained = await explainLosses({ store: kb.store, answers: outcomes, uriOf, signal: io.signal });
    return { kinds: measured, losses: explained };
  });
  const flaws = Object.fromEntries(
    answerFlawNames.map((name) => [name, outcomes.filter((outcome) => outcome.flaws.includes(name)).length]),
  ) as Record<AnswerFlaw, number>;
  const judged = await judgedByFlag(
    io,
    flags,
    outcomes.map(({ answer }) => ({ answer })),
  );
  const summary = { questions: questions.length, kinds, flaws, losses: losses.counts, ...given({ judged }) };
  if (report !== undefined) {
    await writeText(resolve(io.directory, report), await passagesReport(basename(path), kinds, losses));
  }
  if (output !== undefined) {
    const lossOf = new Map(losses.losses.map(({ question, kind, detail }) => [question.id, { kind, detail }]));
    const answers = outcomes.map(({ question, answer, right, flaws: found }) => {
      const loss = lossOf.get(question.id);
      const quotes = answer.citations.map(({ uri, quote, supported }) => ({ uri, quote, supported }));
      return {
        id: question.id,
        question: question.text,
        right,
        flaws: found,
        answer: answer.text,
        quotes,
        ...given({ loss }),
      };
    });
    await writeText(resolve(io.directory, output), `${JSON.stringify({ ...summary, answers }, null, 1)}\n`);
  }
  print(
    io,
    flags,
    summary,
    `${describe(kinds, flaws)}\n${describeLosses(losses)}\n${judged ? `${describeJudged(judged).join("\n")}\n` : ""}`,
  );
  return exitCodes.done;
}

/**
 * Questions belong to one version of the documents.
 *
 * @throws LoadError (`missing`, `malformed`) that names the first question whose passage is not there.
 */
async function checkPassages(folder: string, questions: readonly PassageQuestion[]): Promise<void> {
  for (const { id, passages } of questions) {
    for (const { uri, quote } of passages.flat()) {
      const file = uri.startsWith("file:") ? fileURLToPath(uri) : join(folder, uri);
      const text = await readFile(file, "utf8").catch((cause: unknown) => {
        throw new LoadError("missing", file, `Question ${id} expects a passage of ${uri}, which is not in ${folder}`, {
          cause,
        });
      });
      if (holdsAnswer(text, [quote])) continue;
      const problem = `Question ${id} expects the words ${JSON.stringify(quote)}, which ${uri} does not hold`;
      throw new LoadError("malformed", file, problem);
    }
  }
}

function describe(kinds: readonly KindOfAnswers[], flaws: Readonly<Record<AnswerFlaw, number>>): string {
  const rows = kinds.map(({ kind, questions, right, interval: [low, high], declined }) =>
    [
      kind.padEnd(20),
      String(questions).padStart(9),
      `${right.toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`.padStart(23),
      declined.toFixed(3).padStart(10),
    ].join(""),
  );
  const head = ["Kind".padEnd(20), "Questions".padStart(9), "Right".padStart(23), "Declined".padStart(10)].join("");
  const asked = kinds.reduce((sum, { questions }) => sum + questions, 0);
  return `${[
    `${counted(asked, "question")}. Right: every expected passage is cited, or the question is declined where there is none.`,
    "",
    head,
    ...rows,
    "",
    `Answers with a raw marker ${flaws.rawMarker}, an unclosed code span ${flaws.openCode}, a quote that cuts a link ${flaws.cutLink}, no citation ${flaws.uncited}`,
  ].join("\n")}\n`;
}
