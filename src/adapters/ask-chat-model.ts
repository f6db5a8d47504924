import { randomUUID } from "node:crypto";
import type { CallOptions, ChatEvent, ChatMessage, ChatModel, ChatRequest } from "../core/ports.js";
import type { ToolExchange, Turn } from "../core/types.js";
import { type Conversation, countMessageTokens, foldMessages } from "../text/prompt/fold-messages.js";
import type { ToolRound } from "../text/prompt/tool-messages.js";
import { WrittenToolCallParser } from "../text/prompt/written-tool-calls.js";

/**
 * Asks a chat model of ours as other libraries ask theirs: with any number of messages, and with tool results in messages of
 * their own. They are folded only for a model that does not take them as they are.
 */
export async function* askChatModel(
  model: ChatModel,
  request: ChatRequest,
  call: CallOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  const asked = { ...request, messages: messagesFor(model, request) };
  if (model.toolMessages === "role-tool" || !request.tools?.length) {
    yield* model.stream(asked, call);
    return;
  }
  // A model that was shown calls as text may write its own that way.
  const written = new WrittenToolCallParser();
  for await (const event of model.stream(asked, call)) {
    if (event.type !== "text-delta" && event.type !== "finish") yield event;
    else {
      const text = event.type === "finish" ? written.end() : written.push(event.text);
      if (text !== "") yield { type: "text-delta", text };
    }
    if (event.type !== "finish") continue;
    for (const currentCall of written.calls) yield { type: "tool-call", id: randomUUID(), ...currentCall };
    yield written.calls.length > 0 ? { ...event, reason: "tool-calls" } : event;
  }
}

function messagesFor(model: ChatModel, { messages, tools = [], maxTokens }: ChatRequest): readonly ChatMessage[] {
  const isPlain = messages.every(({ role, toolCalls = [] }) => role !== "tool" && toolCalls.length === 0);
  const { tokens, toolMessages = "user-xml", maxMessages } = model;
  if (messages.length <= maxMessages && (isPlain || toolMessages === "role-tool")) return messages;
  const conversation = conversationOf(messages);
  const { system, ask } = conversation;
  const fixed: readonly ChatMessage[] = [
    { role: "system", content: system + JSON.stringify(tools) },
    { role: "user", content: ask },
  ];
  const reply = maxTokens ?? model.maxOutputTokens;
  const maxHistoryTokens = Math.max(0, model.contextTokens - reply - countMessageTokens(fixed, tokens));
  const folded = foldMessages(conversation, { maxMessages, maxTokens: maxHistoryTokens, tokens, toolMessages });
  return folded.messages.filter(({ role, content }) => role !== "system" || content !== "");
}

/** The last question, with what came before it and what was done for it since. */
export function conversationOf(messages: readonly ChatMessage[]): Conversation {
  const spoken = messages.filter(({ role }) => role !== "system");
  const last = spoken.findLastIndex(({ role }) => role === "user");
  return {
    system: messages.flatMap(({ role, content }) => (role === "system" ? [content] : [])).join("\n\n"),
    history: turnsOf(spoken.slice(0, Math.max(0, last))),
    ask: spoken[last]?.content ?? "",
    rounds: roundsOf(spoken.slice(last + 1)),
  };
}

/** An answer with all calls on the way to it is one turn. */
function turnsOf(messages: readonly ChatMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (let offset = 0; offset < messages.length;) {
    const { role, content } = messages[offset]!;
    if (role === "user") {
      turns.push({ role, text: content });
      offset++;
      continue;
    }
    const next = messages.findIndex((message, index) => index > offset && message.role === "user");
    const end = next < 0 ? messages.length : next;
    const rounds = roundsOf(messages.slice(offset, end));
    const text = rounds.flatMap((round) => (round.text === "" ? [] : [round.text])).join("\n\n");
    turns.push({ role: "assistant", text, tools: rounds.flatMap(({ tools }) => tools) });
    offset = end;
  }
  return turns;
}

function roundsOf(messages: readonly ChatMessage[]): ToolRound[] {
  const results = new Map(messages.map(({ toolCallId = "", content }) => [toolCallId, content]));
  return messages.flatMap(({ role, content, reasoning, toolCalls = [] }) => {
    if (role !== "assistant") return [];
    const tools = toolCalls.map((call): ToolExchange => ({
      ...call,
      result: { content: results.get(call.id) ?? "(no result)" },
    }));
    return [{ text: content, ...(reasoning !== undefined && { reasoning }), tools }];
  });
}
