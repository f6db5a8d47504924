import type { ChatMessage } from "../ports.js";
import type { ToolExchange } from "../types.js";
import { escapeToolTags } from "./prompt-tags.js";

/** Calls of one reply with their results, and what the model said and thought before them. */
export interface CallsWithResults {
  readonly text: string;
  readonly reasoning?: string;
  readonly tools: readonly ToolExchange[];
}

/** Messages of `roleToolMessages`. */
export function roleToolMessageCount({ tools }: CallsWithResults): number {
  return 1 + tools.length;
}

/**
 * Calls and results for services that take the role `tool`: the assistant's message with all calls, then a message for
 * each result, in the order of the calls. Templates render results between tags of their own, which no result may close.
 */
export function roleToolMessages({ text, reasoning, tools }: CallsWithResults): ChatMessage[] {
  return [
    {
      role: "assistant",
      content: escapeToolTags(text),
      toolCalls: tools.map(({ id, name, arguments: written }) => ({ id, name, arguments: objectOrEmpty(written) })),
      ...(reasoning !== undefined && { reasoning }),
    },
    ...tools.map(({ id, result }): ChatMessage => ({
      role: "tool",
      toolCallId: id,
      content: escapeToolTags("error" in result ? `Error: ${result.error}` : result.content),
    })),
  ];
}

/** Templates parse what a call was given; of one that no parser reads, its result says what was wrong. */
function objectOrEmpty(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? json : "{}";
  } catch {
    return "{}";
  }
}
