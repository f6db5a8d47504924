import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import type { ChatModel } from "../../core/ports.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { askedQuestions } from "../../tuning/asked-questions.js";
import { type MadeQuestions, makeQuestions } from "../../tuning/make-questions.js";
import { type QuestionKind, questionKinds } from "../../tuning/question-requests.js";
import { questionRules, type QuestionRule } from "../../tuning/question-rules.js";
import { explainStop, print, type CommandIo, type StoreFlags, withKnowledgeBase } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count, counted } from "../output/figures.js";
import { progressLine } from "../output/progress.js";
import { writeText } from "../output/write-text.js";
import { type ChatBudgetFlags, withChatModel } from "./with-chat-model.js";

interface MakeFlags extends StoreFlags, ChatBudgetFlags {
  readonly output?: string;
  readonly count?: number;
  readonly kinds?: readonly string[];
  readonly seed?: number;
  readonly fromConversations?: boolean;
  readonly redact?: boolean;
}

/** Makes questions about the documents of a store, or takes those of its conversations, and writes them as lines. */
export async function makeCommand(
  io: CommandIo,
  _flags: MakeFlags,
  command: { readonly optsWithGlobals: () => MakeFlags },
): Promise<number> {
  // Flags that "eval" has as well are read by it, wherever they stand.
  const flags = command.optsWithGlobals();
  const output = resolve(io.directory, flags.output ?? "questions.jsonl");
  if (existsSync(output)) {
    throw new OptionsError(
      "options",
      `${output} is there already, and may have been mended by hand: name another with --output`,
    );
  }
  if (flags.redact && !flags.fromConversations) {
    throw new OptionsError("options", "--redact is for questions that people asked: use it with --from-conversations");
  }
  const kinds = flags.kinds?.map(kindOf);
  const repliesPath = `${output}.replies`;
  const stopped = `Stopped; paid replies are kept in ${repliesPath}. Run the same command again.\n`;
  const make = async (kb: KnowledgeBase, model: ChatModel | undefined) => {
    if (flags.fromConversations) return writeAsked(io, kb, output, flags);
    const line = progressLine(
      io.notes,
      ({ made, asked, tokens }: { made: number; asked: number; tokens: number }) =>
        `${counted(made, "question")} of ${counted(asked, "passage")}${tokens > 0 ? `, ${counted(tokens, "token")}` : ""}`,
    );
    const result = await makeQuestions(kb, {
      ...given({
        chatModel: model,
        kinds,
        count: flags.count,
        seed: flags.seed,
        maxTokens: flags.maxTokens,
        maxCost: flags.maxCost,
        maxMinutes: flags.minutes,
      }),
      ...(model && { repliesPath }),
      signal: io.signal,
      onProgress: (progress) => line.update(progress),
    }).finally(() => line.clear());
    await writeText(output, result.questions.map((question) => `${JSON.stringify(asLine(question))}\n`).join(""));
    // A budget that ended the run can be raised: the replies are then worth their money.
    if (result.stopped === undefined) await rm(repliesPath, { force: true });
    const { questions, ...summary } = result;
    print(io, flags, { questions: questions.length, ...summary, output }, describe(result, output));
    return exitCodes.done;
  };
  return explainStop(
    io,
    stopped,
    withKnowledgeBase(io, flags, false, (kb) => withChatModel(io, flags, (model) => make(kb, model))),
  );
}

function kindOf(word: string): QuestionKind {
  const kind = word.replaceAll("-", " ");
  if (kind in questionKinds) return kind as QuestionKind;
  const known = Object.keys(questionKinds).map((name) => name.replaceAll(" ", "-"));
  throw new OptionsError("options", `--kinds: there is no kind ${word}; there are ${known.join(", ")}`);
}

function asLine({ id, kind, text, passages, answer }: MadeQuestions["questions"][number]): object {
  return { _id: id, kind, text, passages, ...(answer !== "" && { answer }) };
}

function describe(
  { questions, weaker, leftOut, failed, tokens, cost, stopped }: MadeQuestions,
  output: string,
): string {
  const kinds = new Map<string, number>();
  for (const { kind } of questions) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const left = (Object.keys(questionRules) as QuestionRule[])
    .filter((rule) => leftOut[rule] > 0)
    .map((rule) => `  ${String(leftOut[rule]).padStart(5)}  ${questionRules[rule]}`);
  const paid =
    tokens > 0 ? [`${counted(tokens, "token")}${cost === undefined ? "" : `, cost ${cost.toFixed(4)}`}.`] : [];
  return `${[
    `${counted(questions.length, "question")} in ${output}: ${[...kinds].map(([kind, made]) => `${count(made)} ${kind}`).join(", ")}.`,
    ...(weaker
      ? [
          "Made from headings and sentences, without a model: nearer to the text than what people ask, and so weaker. Name a --chat-model for better ones.",
        ]
      : []),
    ...(left.length > 0 ? ["Left out:", ...left] : []),
    ...(failed > 0 ? [`${counted(failed, "request")} failed.`] : []),
    ...paid,
    ...(stopped === undefined ? [] : [`Ended early: ${stopped}.`]),
    "Read them before you trust them: mend or delete lines.",
  ].join("\n")}\n`;
}

async function writeAsked(io: CommandIo, kb: KnowledgeBase, output: string, flags: MakeFlags): Promise<number> {
  const questions = await askedQuestions(kb, {
    ...given({ redact: flags.redact, count: flags.count }),
    signal: io.signal,
  });
  const lines = questions.map(({ id, ...question }) => `${JSON.stringify({ _id: id, ...question })}\n`);
  await writeText(output, lines.join(""));
  const text =
    `${counted(questions.length, "question")} that people asked in ${output}, with the passages that the answers cited.\n` +
    "An answer that nobody checked may have cited the wrong passage: read them before you trust them.\n";
  print(io, flags, { questions: questions.length, output }, text);
  return exitCodes.done;
}
