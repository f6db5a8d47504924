import { z } from "zod";
import { type ModelInfo, modelInfo } from "../contract/catalogue.js";
import {
  type ChatRequest as WireRequest,
  type RoleToolMessage,
  maxMessages,
  maxOutputTokens as maxServiceTokens,
} from "../contract/chat.js";
import { callOptions } from "../core/call-options.js";
import { OptionsError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest, TokenCounter, ToolDescription } from "../core/ports.js";
import { defaultTokens } from "../text/tokens/tokens.js";
import { type ChatCallOptions, defaultMaxTokens } from "../transport/operations/chat.js";
import type { TransportChatRequest } from "../transport/operations/chat-request.js";
import { checkTransport, type Transport } from "../transport/transport.js";
import { Counter } from "./counter.js";

const Thinking = z.union([
  z.boolean(),
  z.strictObject({ budgetTokens: z.int().min(1).max(32_768) }),
  z.strictObject({ effort: z.enum(["low", "medium", "high"]) }),
]);

export interface ChatModelOptions {
  /** Id of the model. */
  readonly model: string;
  /** Tokens of request and reply together. At least 1024; default: the catalogue's, 32,768 for models it lacks. */
  readonly contextTokens?: number;
  /** Maximum tokens of a reply, 1 or more. Default: 4096, for a vision model 2048, never more than half the context. */
  readonly maxOutputTokens?: number;
  /**
   * Whether the model thinks before it answers: `false` or `true` by the family's own switch, `{ budgetTokens }`, 1 to 32,768,
   * for the Q3 family, `{ effort }` for models of no family. Default: the model decides.
   */
  readonly thinking?:
    | boolean
    | {
        /** Maximum tokens of thinking, 1 to 32,768. Q3 family only. */
        readonly budgetTokens: number;
      }
    | {
        /** How much to think. Models of no family only. */
        readonly effort: "low" | "medium" | "high";
      };
  /**
   * How tool calls and their results are sent back: as text in the contract's three roles, or in messages of the role
   * `tool`, for services that take it. Default: `user-xml`.
   */
  readonly toolMessages?: "user-xml" | "role-tool";
  /** Sampling temperature, 0 to 2; a request's own wins. Default: the service's, 0.7. */
  readonly temperature?: number;
  /** Counts tokens. Default: the exact counter of the library's own vocabulary. */
  readonly tokens?: TokenCounter;
}

export const chatModelOptions = optionsOf<ChatModelOptions>()({
  model: z.string().min(1),
  contextTokens: z.int().min(1024).optional(),
  maxOutputTokens: z.int().min(1).max(maxServiceTokens.llm).optional(),
  thinking: Thinking.optional(),
  toolMessages: z.enum(["user-xml", "role-tool"]).default("user-xml"),
  temperature: z.number().min(0).max(2).optional(),
  tokens: Counter.optional(),
});

const chatRequest = optionsOf<ChatRequest>()({
  messages: z.array(z.custom<ChatMessage>()).readonly(),
  tools: z.array(z.custom<ToolDescription>()).readonly().optional(),
  maxTokens: z.int().min(1).optional(),
  temperature: z.number().optional(),
  stop: z.array(z.string()).readonly().optional(),
  format: z.enum(["text", "json"]).optional(),
});

const defaultContextTokens = 32_768;

/**
 * A model that answers messages, over the transport.
 *
 * @throws OptionsError when an option is out of range, or the model's family cannot do what it asks for.
 */
export function chatModel(transport: Transport, options: ChatModelOptions): ChatModel {
  checkTransport("chatModel", transport);
  const settings = resolve("chatModel", chatModelOptions, options);
  const { model, toolMessages } = settings;
  const info = modelInfo(transport.models, model, "llm");
  const type = info.type === "vlm" ? "vlm" : "llm";
  const contextTokens = settings.contextTokens ?? info.contextTokens ?? defaultContextTokens;
  const maxOutputTokens = settings.maxOutputTokens ?? Math.min(defaultMaxTokens[type], Math.floor(contextTokens / 2));
  const limit = Math.min(contextTokens - 1, maxServiceTokens[type]);
  if (maxOutputTokens > limit) {
    throw new OptionsError(
      "options",
      `chatModel: maxOutputTokens is ${maxOutputTokens}, at most ${limit} for ${model}`,
    );
  }
  const thinking = thinkingFields(settings.thinking, info);
  // Models of this family refuse tool calls that come back without the thinking before them.
  const replaysReasoning = toolMessages === "role-tool" && info.family === "D";

  const wireRequest = (request: ChatRequest): TransportChatRequest => {
    const temperature = request.temperature ?? settings.temperature;
    // The messages have one kind of content and the fields are of one family, which the compiler cannot follow.
    return {
      model,
      messages: request.messages.map((message) => wireMessage(message, { vision: type === "vlm", replaysReasoning })),
      max_tokens: Math.min(request.maxTokens ?? maxOutputTokens, maxServiceTokens[type]),
      ...(request.stop !== undefined && request.stop.length > 0 && { stop: [...request.stop] }),
      ...(temperature !== undefined && { temperature }),
      ...(request.format === "json" && { response_format: { type: "json_object" as const } }),
      ...(request.tools !== undefined && request.tools.length > 0 && { tools: request.tools.map(wireTool) }),
      ...thinking,
    } as TransportChatRequest;
  };

  return {
    model,
    contextTokens,
    maxOutputTokens,
    maxMessages,
    toolMessages,
    replaysReasoning,
    ...(transport.prices[model] && { price: transport.prices[model] }),
    tokens: settings.tokens ?? defaultTokens,
    stream: (request, call = {}) =>
      chatEvents(transport, wireRequest(resolve("stream", chatRequest, request)), {
        ...resolve("stream", callOptions, call),
        toolMessages,
      }),
  };
}

/** Translates the transport's events. Pieces of tool calls are left out: a call comes whole. */
async function* chatEvents(
  transport: Transport,
  request: TransportChatRequest,
  call: ChatCallOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  for await (const event of transport.chatStream(request, call)) {
    if (event.type === "finish") {
      const { finishReason: reason, usage, model } = event.result;
      yield { type: "finish", reason, usage, model };
    } else if (event.type !== "tool-call-delta") yield event;
  }
}

function wireMessage(
  { role, content, toolCalls, toolCallId = "", reasoning = "" }: ChatMessage,
  { vision, replaysReasoning }: { readonly vision: boolean; readonly replaysReasoning: boolean },
): RoleToolMessage {
  if (role === "tool") return { role, tool_call_id: toolCallId, content };
  if (role !== "assistant" || toolCalls === undefined) {
    return { role, content: vision ? [{ type: "text", text: content }] : content };
  }
  return {
    role,
    content,
    tool_calls: toolCalls.map(({ id, ...called }) => ({ id, type: "function", function: called })),
    ...(replaysReasoning && { reasoning_content: reasoning }),
  };
}

function wireTool({ name, description, parameters }: ToolDescription): NonNullable<WireRequest["tools"]>[number] {
  return { type: "function", function: { name, ...(description !== undefined && { description }), parameters } };
}

/**
 * The fields that switch thinking for a model: each family has its own, and refuses those of the others.
 *
 * @throws OptionsError when the model's family has no field for what is asked.
 */
function thinkingFields(
  thinking: z.output<typeof Thinking> | undefined,
  { id, type, family }: ModelInfo,
): Partial<WireRequest> {
  if (thinking === undefined || type === "vlm") return {};
  if (typeof thinking === "boolean") {
    if (family === "Q3") return { enable_thinking: thinking };
    if (family === "D") return { thinking: { type: thinking ? "enabled" : "disabled" } };
    return family === "S" ? {} : { reasoning_effort: thinking ? "medium" : "none" };
  }
  const refuse = (field: string, takers: string): never => {
    const problem = `thinking.${field} is for ${takers}, which ${id} is not by the catalogue; use true or false`;
    throw new OptionsError("options", `chatModel: ${problem}`);
  };
  if ("budgetTokens" in thinking) {
    if (family !== "Q3") refuse("budgetTokens", "models of the Q3 family");
    return { enable_thinking: true, thinking_budget: thinking.budgetTokens };
  }
  if (family !== undefined) refuse("effort", "models outside the Q3, D and S families");
  return { reasoning_effort: thinking.effort };
}
