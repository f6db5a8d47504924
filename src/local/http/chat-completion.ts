import { randomUUID } from "node:crypto";
import { defaultTokens } from "../../text/tokens/tokens.js";
import type { ChatDraft } from "../engines/engines.js";

export interface CompletionLimits {
  /** Maximum tokens of content and calls together; thinking counts apart. */
  readonly maxTokens: number;
  readonly thinkingBudget: number;
  /** Content ends before the first of these. */
  readonly stop: readonly string[];
}

export interface CompletedToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One choice of a reply. */
export interface Completion {
  readonly reasoning: string;
  readonly content: string;
  readonly toolCalls: readonly CompletedToolCall[];
  readonly finishReason: "stop" | "length" | "tool_calls";
  readonly reasoningTokens: number;
  /** Tokens of content and calls. */
  readonly contentTokens: number;
}

/** Applies the caller's limits to what an engine would say, as a model that writes token by token obeys them. */
export function complete(draft: ChatDraft, { maxTokens, thinkingBudget, stop }: CompletionLimits): Completion {
  const reasoning = firstTokens(draft.reasoning, thinkingBudget);
  const stopAt = firstStop(draft.content, stop);
  const stopped = stopAt < draft.content.length;
  const content = firstTokens(draft.content.slice(0, stopAt), maxTokens);
  let room = maxTokens - content.tokens;
  let cut = content.cut;
  const toolCalls: CompletedToolCall[] = [];
  for (const call of stopped ? [] : draft.toolCalls) {
    if (room <= 0 || cut) {
      cut = true;
      break;
    }
    const written = firstTokens(JSON.stringify(call.arguments), room);
    room -= written.tokens;
    cut = written.cut;
    const id = `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
    toolCalls.push({ id, type: "function", function: { name: call.name, arguments: written.text } });
  }
  return {
    reasoning: reasoning.text,
    content: content.text,
    toolCalls,
    finishReason: cut ? "length" : toolCalls.length > 0 ? "tool_calls" : "stop",
    reasoningTokens: reasoning.tokens,
    contentTokens: maxTokens - room,
  };
}

function firstStop(text: string, stop: readonly string[]): number {
  const found = stop.map((sequence) => text.indexOf(sequence)).filter((index) => index >= 0);
  return Math.min(text.length, ...found);
}

/** Cuts a text to the whole words within its first `maxTokens` tokens. */
function firstTokens(text: string, maxTokens: number): { text: string; tokens: number; cut: boolean } {
  const { ends, tokens } = defaultTokens.measure(text);
  const last = tokens.findLastIndex((count) => count <= maxTokens);
  return {
    text: text.slice(0, ends[last] ?? 0),
    tokens: tokens[last] ?? 0,
    cut: last < tokens.length - 1,
  };
}
