import { AnswerError } from "../../core/errors.js";
import type { ChatModel, ToolDescription } from "../../core/ports.js";
import type { Turn } from "../../core/types.js";
import { countMessageTokens, foldMessages, messageOverheadTokens } from "../../text/prompt/fold-messages.js";
import { renderSourcedQuestion } from "../../text/prompt/prompt.js";
import type { ResolvedAnswerOptions } from "./answer-options.js";

/** The shares of a model's context, in tokens. */
export interface ContextShares {
  /** The reply, thinking included: sent as its `maxTokens`. */
  readonly reply: number;
  /** Earlier turns and rounds of tools. */
  readonly conversation: number;
  /** The part of `conversation` for the results of one round. */
  readonly results: number;
  /** The numbered sources. */
  readonly sources: number;
}

/** The parts of a request beside sources and rounds of tools. */
export interface FixedParts {
  readonly system: string;
  readonly question: string;
  readonly history: readonly Turn[];
  /** All tools that may be offered. */
  readonly tools: readonly ToolDescription[];
  /** Tokens of the question's pictures. */
  readonly pictureTokens: number;
  /** Reserved to ask again after a bad reply, beside the question, which is then repeated. 0 when that cannot happen. */
  readonly repairTokens: number;
}

const defaultReplyTokens = 4096;
/** With less than this for all sources, answering from them is not possible. */
const minRoom = 256;
/** The shares of the room beside the fixed parts: at most this much for history, this much for rounds of tools. */
const historyShare = 1 / 4;
const roundsShare = 1 / 3;
/** The results' share of the tokens for rounds: calls, framing and JSON escapes need the rest. */
const resultsShare = 1 / 2;
/** Sources and question are counted separately; sent as one text they may have a few tokens more. */
const joinTokens = 16;
/** Two folded blocks, each of which says at least how much was left out. */
const foldNoticeTokens = 64;
/** Chat templates add some words around each description of a tool. */
const toolOverheadTokens = 32;

/**
 * Allocates the context: first to the reply, the question and the instructions, then to history as far as it needs, to
 * rounds of tools, and the rest to the sources.
 *
 * @throws AnswerError (`question-too-long`) when that leaves no room; nothing has been sent then.
 */
export function allocateContext(
  model: Pick<ChatModel, "contextTokens" | "maxOutputTokens" | "tokens">,
  options: Pick<ResolvedAnswerOptions, "contextTokens" | "answerTokens" | "thinkingTokens" | "maxReplyTokens">,
  parts: FixedParts,
): ContextShares {
  const context = Math.min(model.contextTokens, options.contextTokens ?? Infinity);
  const answer = options.answerTokens ?? Math.min(defaultReplyTokens, Math.floor(context / 4));
  const thinking = options.thinkingTokens ?? Math.min(defaultReplyTokens, Math.floor(context / 8));
  const reply = Math.min(answer + thinking, model.maxOutputTokens, options.maxReplyTokens ?? Infinity);

  const { question, instructions, history, hasTools } = fixedCosts(model, parts);
  const room = context - reply - question - instructions;
  if (room < minRoom) {
    throw new AnswerError(
      "question-too-long",
      `The question has ${question} tokens, instructions and tools ${instructions}, and ${reply} are kept for the reply: ` +
        `of the model's context of ${context} tokens that leaves ${Math.max(0, room)} for sources, and at least ${minRoom} ` +
        "are needed. Shorten the question, lower answerTokens or thinkingTokens, or use a model with a larger context",
    );
  }
  const rounds = hasTools ? Math.floor(room * roundsShare) : 0;
  const turns = Math.min(history, Math.floor(room * historyShare));
  const notices = history > 0 || hasTools ? foldNoticeTokens : 0;
  return {
    reply,
    conversation: rounds + turns,
    results: Math.floor(rounds * resultsShare),
    sources: room - rounds - turns - notices - joinTokens,
  };
}

/** Counts the tokens of the fixed parts. */
function fixedCosts(
  { tokens }: Pick<ChatModel, "tokens">,
  { system, question: text, history, tools, pictureTokens, repairTokens }: FixedParts,
) {
  const asking = { role: "user", content: renderSourcedQuestion({ sources: [], question: text }) } as const;
  const question = countMessageTokens([asking], tokens) + pictureTokens;
  const systemTurns = history.filter(({ role }) => role === "system").map((turn) => turn.text);
  const described = tools.reduce((sum, tool) => sum + tokens.count(JSON.stringify(tool)) + toolOverheadTokens, 0);
  const unfolded = foldMessages(
    { system: "", history: history.filter(({ role }) => role !== "system"), ask: "", rounds: [] },
    { maxMessages: Infinity, maxTokens: Infinity, tokens },
  );
  return {
    question,
    instructions:
      tokens.count([system, ...systemTurns].join("\n\n")) +
      messageOverheadTokens +
      described +
      (repairTokens > 0 ? repairTokens + question : 0),
    history: history.length === 0 ? 0 : countMessageTokens(unfolded.messages, tokens),
    hasTools: tools.length > 0,
  };
}
