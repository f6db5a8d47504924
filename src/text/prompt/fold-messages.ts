import type { ChatMessage, TokenCounter, ToolMessages } from "../../core/ports.js";
import type { ToolExchange, Turn } from "../../core/types.js";
import { shorten } from "../blocks/cut-text.js";
import { escapeTags } from "./prompt-tags.js";
import { renderToolCall, renderToolResponse, roleToolMessages, type ToolRound } from "./tool-messages.js";

/** Everything a model is to read, in the order in which it happened. */
export interface Conversation {
  readonly system: string;
  /** Earlier turns, oldest first. Their system turns join `system`. */
  readonly history: readonly Turn[];
  /** The current question with its sources. Never shortened. */
  readonly ask: string;
  /** Pictures that go with the question. Default: none. */
  readonly pictures?: readonly string[];
  /** Tool rounds since `ask`, oldest first. */
  readonly rounds: readonly ToolRound[];
}

export interface FoldLimits {
  /** Maximum number of messages, the system message included; at least 2. */
  readonly maxMessages: number;
  /** Maximum tokens of history and rounds together, with the overhead of their messages. */
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
  /** Default: `user-xml`. */
  readonly toolMessages?: ToolMessages;
}

export interface Folded {
  /**
   * One system message, then user and assistant in turn, beginning with the user. With `role-tool`, tool results follow
   * the assistant's calls; a round with more calls than messages are allowed is sent as text all the same.
   */
  readonly messages: readonly ChatMessage[];
  /** Earlier turns and rounds that are shortened in `<conversation_history>`. */
  readonly foldedTurns: number;
  readonly foldedRounds: number;
  /** The oldest of those, which did not fit even shortened and are only counted there. */
  readonly droppedTurns: number;
  readonly droppedRounds: number;
}

/** Tokens of a message beside its content. Role and separators take 4 to 6 in the chat templates of open models. */
export const messageOverheadTokens = 8;

/** Tokens of messages as they are sent. */
export function countMessageTokens(messages: readonly ChatMessage[], tokens: TokenCounter): number {
  return messages.reduce(
    (sum, { content, reasoning = "", toolCalls = [] }) =>
      sum +
      tokens.count(content) +
      (reasoning === "" ? 0 : tokens.count(reasoning)) +
      toolCalls.reduce((calls, call) => calls + tokens.count(JSON.stringify(call)) + messageOverheadTokens, 0) +
      messageOverheadTokens,
    0,
  );
}

/** Share of the budget for the items kept in full when older ones are folded. */
const verbatimShare = 0.75;
const foldedTextCharacters = 600;
const foldedResultCharacters = 240;

/**
 * Brings a conversation into the form that the service takes: few messages, three roles, tool calls and results as text.
 * The newest turns stay as they are, older ones are folded into one `<conversation_history>` in a user message. Running
 * rounds are folded last. A call and its result stay together, the order stays, and neighbours of one role are merged.
 */
export function foldMessages(conversation: Conversation, limits: FoldLimits): Folded {
  const { maxMessages, maxTokens, tokens } = limits;
  const turns = conversation.history.filter(({ role }) => role !== "system");
  const { rounds } = conversation;
  const system: ChatMessage = { role: "system", content: systemText(conversation) };
  const { ask, pictures = [] } = conversation;
  const asking: ChatMessage = { role: "user", content: ask, ...(pictures.length > 0 && { pictures }) };
  const keepNewest = <Item>(items: readonly Item[], render: (item: Item) => ChatMessage[], keep: KeepLimits) =>
    splitNewest(
      items.map(render).map((messages) => ({ messages, tokens: countMessageTokens(messages, tokens) })),
      keep,
    );

  const roundSplit = keepNewest(rounds, (round) => renderRound(round, limits), {
    budget: turns.length > 0 ? maxTokens * verbatimShare : maxTokens,
    allowed: (_, newest) => merge([system, asking, ...newest]).length <= maxMessages,
  });
  const afterRounds = maxTokens - roundSplit.tokens;
  const roundBlock = foldBlock(rounds.slice(0, roundSplit.older).map(foldedRound), {
    budget: turns.length > 0 ? afterRounds / 2 : afterRounds,
    tokens,
  });
  const running = [asking, ...roundBlock.messages, ...roundSplit.messages];

  const turnBudget = afterRounds - countMessageTokens(roundBlock.messages, tokens);
  const turnSplit = keepNewest(turns, (turn) => renderTurn(turn, limits), {
    budget: turnBudget,
    allowed: (older, newest) => {
      if (older === 0 && newest[0]?.role === "assistant") return false;
      const block: ChatMessage[] = older > 0 ? [{ role: "user", content: "" }] : [];
      return merge([system, ...block, ...newest, ...running]).length <= maxMessages;
    },
  });
  const turnBlock = foldBlock(turns.slice(0, turnSplit.older).map(foldedTurn), {
    budget: turnBudget - turnSplit.tokens,
    tokens,
  });

  return {
    messages: merge([system, ...turnBlock.messages, ...turnSplit.messages, ...running]),
    foldedTurns: turnSplit.older,
    foldedRounds: roundSplit.older,
    droppedTurns: turnBlock.dropped,
    droppedRounds: roundBlock.dropped,
  };
}

function systemText({ system, history }: Conversation): string {
  return [system, ...history.filter(({ role }) => role === "system").map(({ text }) => text)].join("\n\n");
}

function renderRound(round: ToolRound, { toolMessages, maxMessages }: FoldLimits): ChatMessage[] {
  const { text, tools } = round;
  const roleTool = toolMessages === "role-tool" ? roleToolMessages(round) : [];
  // There are at least two more messages: the system's and the question.
  if (roleTool.length > 0 && 2 + roleTool.length <= maxMessages) return roleTool;
  return [
    { role: "assistant", content: joinLines([escapeTags(text), ...tools.map(renderToolCall)]) },
    { role: "user", content: joinLines(tools.map(renderToolResponse)) },
  ];
}

/** Follows tool results without an answer, since a message of results has nothing else. */
const noAnswer: ChatMessage = { role: "assistant", content: "(no answer)" };

function renderTurn(turn: Turn, limits: FoldLimits): ChatMessage[] {
  const role = turn.role === "assistant" ? "assistant" : "user";
  const text: ChatMessage[] = turn.text === "" ? [] : [{ role, content: escapeTags(turn.text) }];
  return turn.role === "assistant" && turn.tools && turn.tools.length > 0
    ? [...renderRound({ text: "", tools: turn.tools }, limits), ...(text.length > 0 ? text : [noAnswer])]
    : text;
}

interface KeepLimits {
  /** Maximum tokens of all items in full; if some are folded, `verbatimShare` of it. */
  readonly budget: number;
  readonly allowed: (older: number, newest: readonly ChatMessage[]) => boolean;
}

interface Rendered {
  readonly messages: readonly ChatMessage[];
  readonly tokens: number;
}

/** Keeps as many of the newest items in full as the limits allow; `older` is the number left to fold. */
function splitNewest(
  items: readonly Rendered[],
  { budget, allowed }: KeepLimits,
): Rendered & { readonly older: number } {
  const from = (older: number) => items.slice(older).flatMap(({ messages }) => messages);
  const all = items.reduce((sum, item) => sum + item.tokens, 0);
  if (all <= budget && allowed(0, from(0))) return { older: 0, messages: from(0), tokens: all };
  let older = items.length;
  let tokens = 0;
  for (;;) {
    const next = items[older - 1];
    if (older <= 1 || !next || tokens + next.tokens > budget * verbatimShare || !allowed(older - 1, from(older - 1)))
      break;
    tokens += next.tokens;
    older--;
  }
  return { older, messages: from(older), tokens };
}

function foldedTurn(turn: Turn): string {
  const said = turn.text === "" ? [] : [`${turn.role}: ${shorten(turn.text, foldedTextCharacters)}`];
  return turn.role === "assistant" ? joinLines([...(turn.tools ?? []).map(foldedExchange), ...said]) : joinLines(said);
}

function foldedRound({ text, tools }: ToolRound): string {
  const said = text === "" ? [] : [`assistant: ${shorten(text, foldedTextCharacters)}`];
  return joinLines([...said, ...tools.map(foldedExchange)]);
}

function foldedExchange({ name, arguments: given, result }: ToolExchange): string {
  const outcome = "error" in result ? `failed: ${result.error}` : result.content;
  return `tool ${name} ${shorten(given, foldedResultCharacters)} -> ${shorten(outcome, foldedResultCharacters)}`;
}

/** The newest `lines` that fit the budget, as one message; its first line counts those that do not. */
function foldBlock(
  lines: readonly string[],
  { budget, tokens }: { readonly budget: number; readonly tokens: TokenCounter },
): { readonly messages: readonly ChatMessage[]; readonly dropped: number } {
  if (lines.length === 0) return { messages: [], dropped: 0 };
  const messages = (dropped: number): ChatMessage[] => {
    const notice = dropped > 0 ? [`(${dropped} earlier left out)`] : [];
    const content = [...notice, ...lines.slice(dropped).map(escapeTags)].join("\n");
    return [{ role: "user", content: `<conversation_history>\n${content}\n</conversation_history>` }];
  };
  const fits = (dropped: number) => countMessageTokens(messages(dropped), tokens) <= budget;
  let dropped = lines.length;
  let tooMany = -1;
  while (dropped - tooMany > 1) {
    const middle = (dropped + tooMany) >> 1;
    if (fits(middle)) dropped = middle;
    else tooMany = middle;
  }
  return { messages: messages(dropped), dropped };
}

function merge(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role && message.role !== "tool") {
      const pictures = [...(last.pictures ?? []), ...(message.pictures ?? [])];
      merged[merged.length - 1] = {
        ...message,
        content: joinParagraphs(last.content, message.content),
        ...(pictures.length > 0 && { pictures }),
      };
    } else merged.push(message);
  }
  return merged;
}

function joinParagraphs(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first}\n\n${second}`;
}

function joinLines(lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join("\n");
}
