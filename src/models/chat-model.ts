import { z } from "zod";
import { type ModelInfo, modelInfo } from "../contract/catalogue.js";
import {
  type ChatRequest as WireRequest,
  type RoleToolMessage,
  maxMessages,
  maxOutputTokens as maxServiceTokens,
} from "../contract/chat.js";
import type { ServiceProfile } from "../dialects/service-profile.js";
import { type ServiceName, serviceProfile } from "../dialects/services.js";
import { callOptions } from "../core/call-options.js";
import { OptionsError, TransportError } from "../core/errors.js";
import { isRecord, isTooDeep, type JsonSchema, maxDepth } from "../core/json.js";
import { listOption, optionsOf, resolve } from "../core/options.js";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest, TokenCounter, ToolDescription } from "../core/ports.js";
import { defaultTokens } from "../text/tokens/tokens.js";
import { type ChatCallOptions, defaultMaxTokens } from "../transport/operations/chat.js";
import type { ServiceRequest, TransportChatRequest } from "../transport/operations/chat-request.js";
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
  /**
   * Tokens of request and reply together. At least 1024. Default: the catalogue's; for models it lacks 32,768, or 4096 over
   * `ollama`, which has no more unless it is started with `OLLAMA_CONTEXT_LENGTH`.
   */
  readonly contextTokens?: number;
  /** Maximum tokens of a reply, 1 or more, for the contract's service at most 16,384. Default: 4096, for a vision model 2048, never more than half the context. */
  readonly maxOutputTokens?: number;
  /**
   * Whether the model thinks before it answers: `false` or `true` by the family's own switch, `{ budgetTokens }`, 1 to 32,768,
   * for the Q3 family, `{ effort }` for models of no family. Other services have `reasoning_effort` or nothing. Default: the
   * model decides.
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
   * `tool`, for services that take it. Default: `user-xml` for the contract's service, `role-tool` for all others.
   */
  readonly toolMessages?: "user-xml" | "role-tool";
  /** Sampling temperature, 0 to 2; a request's own wins. Default: the service's, 0.7. */
  readonly temperature?: number;
  /** Whether the model takes pictures in messages. Default: as the transport's catalogue says; false for a model that it lacks. */
  readonly seesPictures?: boolean;
  /** Counts tokens. Default: the exact counter of the library's own vocabulary. */
  readonly tokens?: TokenCounter;
}

/** @internal */
export const chatModelOptions = optionsOf<ChatModelOptions>()({
  model: z.string().min(1),
  contextTokens: z.int().min(1024).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  thinking: Thinking.optional(),
  toolMessages: z.enum(["user-xml", "role-tool"]).optional(),
  temperature: z.number().min(0).max(2).optional(),
  seesPictures: z.boolean().optional(),
  tokens: Counter.optional(),
});

const chatRequest = optionsOf<ChatRequest>()({
  messages: listOption(z.array(z.custom<ChatMessage>())),
  tools: listOption(z.array(z.custom<ToolDescription>())).optional(),
  maxTokens: z.int().min(1).optional(),
  temperature: z.number().optional(),
  stop: listOption(z.array(z.string())).optional(),
  toolChoice: z.literal("required").optional(),
  format: z.enum(["text", "json"]).optional(),
  schema: z
    .custom<JsonSchema>(isRecord, "must be a JSON Schema")
    .refine((schema) => !isTooDeep(schema), `must not nest deeper than ${maxDepth} levels, or hold itself`)
    .optional(),
});

const defaultContextTokens = 32_768;

/**
 * A model that answers messages, over the transport.
 *
 * @throws OptionsError when an option is out of range, or the model's family cannot do what it asks for.
 * @example
 * ```ts
 * import { chatModel, createTransport } from "citewell";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const chat = chatModel(transport, { model: "…", contextTokens: 32_768 });
 * ```
 */
export function chatModel(transport: Transport, options: ChatModelOptions): ChatModel {
  checkTransport("chatModel", transport);
  const settings = resolve("chatModel", chatModelOptions, options);
  const { model } = settings;
  const profile = serviceProfile(transport.service);
  const toolMessages = settings.toolMessages ?? (profile ? "role-tool" : "user-xml");
  const info = modelInfo(transport.models, model, "llm");
  const type = (settings.seesPictures ?? info.type === "vlm") ? "vlm" : "llm";
  const { contextTokens = info.contextTokens ?? profile?.chat?.contextTokens ?? defaultContextTokens } = settings;
  const maxOutputTokens = settings.maxOutputTokens ?? Math.min(defaultMaxTokens[type], Math.floor(contextTokens / 2));
  const maxReplyTokens = profile ? Infinity : maxServiceTokens[type];
  const limit = Math.min(contextTokens - 1, maxReplyTokens);
  if (maxOutputTokens > limit) {
    throw new OptionsError(
      "options",
      `chatModel: maxOutputTokens is ${maxOutputTokens}, at most ${limit} for ${model}`,
    );
  }
  const thinking = profile
    ? effortField(settings.thinking, transport.service, profile)
    : thinkingFields(settings.thinking, info);
  // Models of this family refuse tool calls that come back without the thinking before them.
  const wantsReasoning = profile?.chat?.replaysReasoning ?? info.family === "D";
  const replaysReasoning = toolMessages === "role-tool" && wantsReasoning;

  const wireRequest = (request: ChatRequest, schema?: JsonSchema): AnyRequest => {
    const temperature = request.temperature ?? settings.temperature;
    return {
      model,
      messages: request.messages.map((message) =>
        wireMessage(message, { vision: type === "vlm", replaysReasoning, model }),
      ),
      max_tokens: Math.min(request.maxTokens ?? maxOutputTokens, maxReplyTokens),
      ...(request.stop !== undefined && request.stop.length > 0 && { stop: [...request.stop] }),
      ...(temperature !== undefined && { temperature }),
      ...(request.format === "json" && { response_format: jsonFormat(schema) }),
      ...(request.tools !== undefined && request.tools.length > 0 && { tools: request.tools.map(wireTool) }),
      ...(request.toolChoice && profile?.chat?.fields.includes("tool_choice") && { tool_choice: request.toolChoice }),
      ...thinking,
    };
  };

  const refusedSchemas = new Set<string>();
  return {
    model,
    contextTokens,
    maxOutputTokens,
    maxMessages: profile ? Infinity : maxMessages,
    toolMessages,
    seesPictures: type === "vlm",
    replaysReasoning,
    ...(transport.prices[model] && { price: transport.prices[model] }),
    tokens: settings.tokens ?? defaultTokens,
    stream: (given, givenCall = {}) => {
      const request = resolve("stream", chatRequest, given);
      const call = { ...resolve("stream", callOptions, givenCall), toolMessages };
      const ask = (schema?: JsonSchema) => chatEvents(transport, wireRequest(request, schema), call);
      const { format, schema } = request;
      const takesSchema = profile?.chat !== undefined && profile.chat.jsonSchema !== "none";
      return format === "json" && schema && takesSchema ? followingSchema(schema, refusedSchemas, ask) : ask();
    },
  };
}

type AnyRequest = ServiceRequest<"openai">;

function jsonFormat(schema: JsonSchema | undefined): AnyRequest["response_format"] {
  if (!schema) return { type: "json_object" };
  return { type: "json_schema", json_schema: { name: "reply", schema: { ...schema } } };
}

/**
 * Asks by a schema; where the service refuses it, as each takes another part of JSON Schema, by the words of the prompt alone,
 * and for that schema from then on in no other way.
 */
async function* followingSchema(
  schema: JsonSchema,
  refused: Set<string>,
  ask: (schema?: JsonSchema) => AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent, void, undefined> {
  const key = JSON.stringify(schema);
  if (!refused.has(key)) {
    try {
      // A refused request has no earlier events.
      yield* ask(schema);
      return;
    } catch (error) {
      const isRefusal = error instanceof TransportError && error.code === "refused";
      if (!isRefusal || (error.status !== 400 && error.status !== 422)) throw error;
    }
  }
  for await (const event of ask()) {
    // The request without a schema has succeeded, so the schema was the reason.
    refused.add(key);
    yield event;
  }
}

/** Translates the transport's events. Pieces of tool calls are left out: a call comes whole. */
async function* chatEvents(
  transport: Transport,
  request: AnyRequest,
  call: ChatCallOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  // The transport checks it by the service that it is for. Its messages have one kind of content and its fields are of one
  // family, which the compiler cannot follow.
  for await (const event of transport.chatStream(request as TransportChatRequest, call)) {
    if (event.type === "finish") {
      const { finishReason: reason, refusal, usage, model } = event.result;
      yield { type: "finish", reason, ...(refusal !== undefined && { refusal }), usage, model };
    } else if (event.type !== "tool-call-delta") yield event;
  }
}

function wireMessage(
  { role, content, pictures = [], toolCalls, toolCallId = "", reasoning = "" }: ChatMessage,
  {
    vision,
    replaysReasoning,
    model,
  }: { readonly vision: boolean; readonly replaysReasoning: boolean; readonly model: string },
): RoleToolMessage {
  if (pictures.length > 0 && !vision) {
    const message = `stream: messages: ${model} sees no pictures; take a vision model, or leave pictures out`;
    throw new OptionsError("options", message, { option: "pictures" });
  }
  if (role === "tool") return { role, tool_call_id: toolCallId, content };
  if (role !== "assistant" || toolCalls === undefined) {
    if (!vision) return { role, content };
    const seen = pictures.map((url) => ({ type: "image_url" as const, image_url: { url } }));
    return { role, content: [...seen, { type: "text", text: content }] };
  }
  return {
    role,
    content,
    tool_calls: toolCalls.map(({ id, name, arguments: json, extraContent }) => ({
      id,
      type: "function",
      function: { name, arguments: json },
      ...(extraContent && { extra_content: extraContent }),
    })),
    ...(replaysReasoning && { reasoning_content: reasoning }),
  };
}

function wireTool({ name, description, parameters }: ToolDescription): NonNullable<WireRequest["tools"]>[number] {
  return { type: "function", function: { name, ...(description !== undefined && { description }), parameters } };
}

/** The field for thinking of a service that is not the contract's. @throws OptionsError when it has none for what is asked. */
function effortField(
  thinking: z.output<typeof Thinking> | undefined,
  service: ServiceName,
  { chat }: ServiceProfile,
): Pick<AnyRequest, "reasoning_effort"> {
  if (thinking === undefined) return {};
  const hasEffort = chat?.fields.includes("reasoning_effort") ?? false;
  if (!hasEffort || (typeof thinking === "object" && "budgetTokens" in thinking)) {
    const takes = hasEffort ? "takes true, false or { effort }" : "has no field for it";
    throw new OptionsError("options", `chatModel: thinking: ${service} ${takes}`);
  }
  if (typeof thinking === "object") return { reasoning_effort: thinking.effort };
  return { reasoning_effort: thinking ? "high" : "none" };
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
