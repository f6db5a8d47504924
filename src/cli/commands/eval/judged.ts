import { resolve } from "node:path";
import { OptionsError } from "../../../core/errors.js";
import { given } from "../../../core/given.js";
import {
  judgeAnswers,
  type AnswerToJudge,
  type JudgedBySentence,
  type JudgedMeasure,
} from "../../../tuning/judge-answers.js";
import type { CommandIo } from "../../command-context.js";
import { counted } from "../../output/figures.js";
import { describeSteps, progressLine } from "../../output/progress.js";
import { withChatModel } from "../../tuning/with-chat-model.js";
import type { EvalFlags } from "./collection.js";

/** Answers as the model that `--judge` names judged them. */
export type Judged = JudgedBySentence & { readonly model: string };

/**
 * Lets the model that `--judge` names judge the answers, each twice; `undefined` without that flag. Judgements are kept beside
 * `--output`, and not paid again.
 */
export async function judgedByFlag(
  io: CommandIo,
  flags: EvalFlags,
  answers: readonly AnswerToJudge[],
): Promise<Judged | undefined> {
  const { judge: model, judgePrice: chatPrice, judgeTokens: maxTokens, judgeCost: maxCost, output } = flags;
  if (model === undefined) return undefined;
  return withChatModel(io, { ...flags, chatModel: model, ...given({ chatPrice }) }, async (judge) => {
    if (!judge) throw withoutService();
    const startedAt = performance.now();
    const line = progressLine(io.notes, (done: number) => describeSteps(done, answers.length, startedAt, "judgement"));
    const judged = await judgeAnswers(judge, {
      ...given({ maxTokens, maxCost }),
      ...(output !== undefined && { repliesPath: `${resolve(io.directory, output)}.judgements` }),
      answers,
      signal: io.signal,
      onProgress: (progress) => line.update(progress.judged),
    }).finally(() => line.clear());
    return { model, ...judged };
  });
}

/** @throws OptionsError for `--judge` without a service, and a limit of cost without a price: before anything is paid. */
export function checkJudge(flags: EvalFlags, { baseUrl }: { readonly baseUrl?: string | undefined }): void {
  if (flags.judge !== undefined && baseUrl === undefined) throw withoutService();
  if (flags.judgeCost !== undefined && flags.judgePrice === undefined) {
    throw new OptionsError("options", "--judge-cost needs the prices of the judge's tokens: add --judge-price");
  }
}

function withoutService(): OptionsError {
  return new OptionsError(
    "options",
    "--judge needs a service with a model that can judge: name the service with --base-url",
  );
}

/** Lines for the terminal. */
export function describeJudged(judged: Judged): readonly string[] {
  const { model, answers, failed, uncited, tokens, cost, stopped } = judged;
  const row = (name: string, { mean, interval: [low, high], agreement }: JudgedMeasure) =>
    `  ${name.padEnd(30)} ${mean.toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})  agreement ${agreement.toFixed(3)}`;
  return [
    `Judged by ${model}: ${counted(answers, "answer")}, each twice; ${counted(failed, "judgement")} could not be read and left out.`,
    row("Sentences that citations say", judged.faithfulness),
    row("Relevance", judged.relevance),
    row("Completeness", judged.completeness),
    `  ${(100 * uncited).toFixed(1)} % of the sentences cite nothing. ${counted(tokens, "token")}${cost === undefined ? "" : `, cost ${cost.toFixed(4)}`}.`,
    ...(stopped === undefined ? [] : [`  Ended early: ${stopped}.`]),
  ];
}
