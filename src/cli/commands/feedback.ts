import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { type CommandIo, print, type StoreFlags, withKnowledgeBase } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { oneLine } from "../output/terminal-text.js";

export interface FeedbackFlags extends StoreFlags {
  readonly rating?: "up" | "down";
}

type RatedAnswer = Awaited<ReturnType<KnowledgeBase["feedback"]>>[number];

/** Longest line of an answer, in characters: enough to recognise it. */
const maxAnswer = 200;

export async function feedbackCommand(io: CommandIo, flags: FeedbackFlags): Promise<number> {
  const { rating } = flags;
  const rated = await withKnowledgeBase(io, flags, false, (kb) => kb.feedback({ ...(rating && { rating }) }));
  print(io, flags, rated.map(asJson), rated.length === 0 ? none(rating) : rated.map(described).join("\n"));
  return exitCodes.done;
}

function none(rating: FeedbackFlags["rating"]): string {
  const which = rating === undefined ? "" : rating === "up" ? "well " : "badly ";
  return `No answer was rated ${which}yet. People rate answers on the page of citewell serve.\n`;
}

function asJson({ conversation, owner, position, question, answer, feedback }: RatedAnswer): object {
  const { text, citations } = answer;
  return { question, ...feedback, conversation, owner, position, answer: text, citations };
}

function described({ conversation, position, question, answer, feedback }: RatedAnswer): string {
  const { rating, note, givenAtMs } = feedback;
  const time = new Date(givenAtMs).toISOString().slice(0, 16).replace("T", " ");
  return [
    `${rating === "up" ? "+" : "-"} ${oneLine(question, maxAnswer)}`,
    ...(note === undefined ? [] : [`  Note: ${oneLine(note, maxAnswer)}`]),
    `  Answer: ${oneLine(answer.text, maxAnswer)}`,
    `  ${time} UTC, question ${position} of conversation ${conversation}`,
    "",
  ].join("\n");
}
