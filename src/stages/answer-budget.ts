import { AnswerError } from "../errors.js";
import type { ChatModel } from "../ports.js";
import type { ResolvedAnswerOptions } from "./answer-options.js";

/** How a model's context is shared out, in tokens. */
export interface AnswerBudget {
  /** Request and reply together. */
  readonly context: number;
  /** The reply, thinking included: sent as the most tokens it may have. */
  readonly reply: number;
  /** Earlier turns and the rounds of tools. */
  readonly conversation: number;
  /** Of that, what the results of one round may have. */
  readonly results: number;
  /** The numbered sources. */
  readonly sources: number;
}

/** What a question needs before sources, history and tools get their share, in tokens. */
export interface FixedCosts {
  readonly question: number;
  /** System message, framing, descriptions of tools. */
  readonly instructions: number;
  /** All earlier turns as they are. */
  readonly history: number;
  readonly hasTools: boolean;
}

const defaultReplyTokens = 4096;
/** With less than this for all sources, there is no answering from them. */
const leastRoom = 256;
/** Of the room beside the fixed costs: what history may take at most, and what rounds of tools get. */
const historyShare = 1 / 4;
const roundsShare = 1 / 3;
/** Of the tokens for rounds, what one round's results get: calls, framing and JSON escapes need the rest. */
const resultsShare = 1 / 2;
/** Counted apart and sent as one text, sources and question may come to a few tokens more. */
const joinTokens = 16;
/** Two folded blocks, each of which says at least how much was left out. */
const foldNotices = 64;

/**
 * Shares out the context: first the reply, the question and the instructions, then history as far as it needs, rounds of
 * tools, and all the rest to the sources.
 *
 * @throws AnswerError (`question-too-long`) when that leaves no room; nothing has been sent then.
 */
export function answerBudget(
  model: Pick<ChatModel, "contextTokens" | "maxOutputTokens">,
  options: Pick<ResolvedAnswerOptions, "contextTokens" | "answerTokens" | "thinkingTokens">,
  { question, instructions, history, hasTools }: FixedCosts,
): AnswerBudget {
  const context = Math.min(model.contextTokens, options.contextTokens ?? Infinity);
  const answer = options.answerTokens ?? Math.min(defaultReplyTokens, Math.floor(context / 4));
  const thinking = options.thinkingTokens ?? Math.min(defaultReplyTokens, Math.floor(context / 8));
  const reply = Math.min(answer + thinking, model.maxOutputTokens);

  const room = context - reply - question - instructions;
  if (room < leastRoom) {
    throw new AnswerError(
      "question-too-long",
      `The question has ${question} tokens, instructions and tools ${instructions}, and ${reply} are kept for the reply: ` +
        `of the model's context of ${context} tokens that leaves ${Math.max(0, room)} for sources, at least ${leastRoom} ` +
        "are needed. Shorten the question, lower answerTokens or thinkingTokens, or use a model with a larger context",
    );
  }
  const rounds = hasTools ? Math.floor(room * roundsShare) : 0;
  const turns = Math.min(history, Math.floor(room * historyShare));
  const notices = history > 0 || hasTools ? foldNotices : 0;
  return {
    context,
    reply,
    conversation: rounds + turns,
    results: Math.floor(rounds * resultsShare),
    sources: room - rounds - turns - notices - joinTokens,
  };
}
