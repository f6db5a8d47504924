import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { ModelFamily, ModelInfo } from "./catalogue.js";
import { isRecord } from "../core/json.js";
import type { ExtraContent } from "../core/types.js";
import type { Operation, Violation } from "./operation.js";
import { amount, optional, position, text } from "./reply-fields.js";

/** Maximum messages in a request. */
export const maxMessages = 10;

/** The values that the service assumes for fields that a request leaves out. */
export const chatDefaults = {
  stream: { llm: true, vlm: false },
  max_tokens: 512,
  temperature: 0.7,
  top_p: 0.7,
  top_k: 50,
  frequency_penalty: 0.5,
  n: 1,
  enable_thinking: true,
  thinking_budget: 4096,
  min_p: 0.05,
} as const;

/** Maximum tokens of one reply. */
export const maxOutputTokens = { llm: 16_384, vlm: 4096 } as const;

/** A text in a message. */
interface TextPart {
  readonly type: "text";
  readonly text?: string;
}

/** An image in a message, for a VLM. */
interface ImagePart {
  readonly type: "image_url";
  readonly image_url: ImageAddress;
}

interface ImageAddress {
  /** An http(s) address, or `data:image/{format};base64,{data}`. */
  readonly url: string;
  /** Detail in which the image is read. Default: `auto`. */
  readonly detail?: "auto" | "low" | "high";
}

/** A message in one of the contract's three roles. */
export interface Message {
  /** Role of the speaker; `system` gives instructions. */
  readonly role: "system" | "user" | "assistant";
  /** A string for an LLM, an array of at least one part for a VLM. */
  readonly content: string | readonly (TextPart | ImagePart)[];
}

/** Beyond the contract: an assistant's message that calls tools. */
interface CallingMessage {
  readonly role: "assistant";
  /** The text before the calls; may be empty. */
  readonly content: string;
  /** Calls, one at least; each is answered by one of the `tool` messages right behind. */
  readonly tool_calls: readonly WireToolCall[];
  /** Reasoning that preceded the calls, for models that want it back. */
  readonly reasoning_content?: string;
}

interface WireToolCall {
  /** Id of the call, for `tool_call_id` of its result. */
  readonly id: string;
  readonly type: "function";
  /** The function and its arguments. */
  readonly function: {
    /** Name of the function. */
    readonly name: string;
    /** JSON text of the arguments. */
    readonly arguments: string;
  };
  /** A service's own notes on the call, as it wrote them. */
  readonly extra_content?: ExtraContent;
}

/** Beyond the contract: the result of a call. */
interface ToolMessage {
  readonly role: "tool";
  /** `id` of the call. */
  readonly tool_call_id: string;
  /** The result, as text. */
  readonly content: string;
}

/** Beyond the contract: an assistant's message with its tool calls, and their results, for services with the role `tool`. */
export type RoleToolMessage = Message | CallingMessage | ToolMessage;

/** A function that the model may call. */
interface ChatTool {
  readonly type: "function";
  readonly function: FunctionDescription;
}

interface FunctionDescription {
  /** 1 to 64 letters, digits, underscores or hyphens. */
  readonly name: string;
  /** Description that tells the model when and how to call it. */
  readonly description?: string;
  /** A JSON Schema of an object. Left out: the function has no parameters. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Whether the arguments have to follow the schema. Default: the service's own. */
  readonly strict?: boolean | null;
}

export interface ChatRequest {
  /** Id of an LLM or a VLM. */
  readonly model: string;
  /** Oldest first, 1 to 10. */
  readonly messages: readonly Message[];
  /** The service's default is true for an LLM, false for a VLM: always send it. */
  readonly stream?: boolean;
  /** LLM 1 to 16,384, VLM 1 to 4,096; the service's default of 512 cuts most answers. */
  readonly max_tokens?: number;
  /** Texts that end the reply and are not part of it, at most 4. Default: none. */
  readonly stop?: readonly string[] | null;
  /** Sampling temperature, 0 to 2. The service's default is 0.7. */
  readonly temperature?: number;
  /** Share of the likeliest tokens to draw from, above 0 to 1. The service's default is 0.7. */
  readonly top_p?: number;
  /** Number of the likeliest tokens to draw from, 1 to 100, or -1 for all. The service's default is 50. */
  readonly top_k?: number;
  /** Penalty on words by how often they occurred, -2 to 2. The service's default is 0.5. */
  readonly frequency_penalty?: number;
  /** Penalty on words that occurred at all, -2 to 2. Default: the service's own. */
  readonly presence_penalty?: number;
  /** Number of replies, 1 or more: the choices of the result. The service's default is 1. */
  readonly n?: number;
  /** `json_object`: the reply is one JSON object. Default: text. */
  readonly response_format?: {
    /** Form of the reply. */
    readonly type: "text" | "json_object";
  };
  /** Functions that the model may call, at most 128. Default: none. LLM only. */
  readonly tools?: readonly ChatTool[];
  /** Whether the model thinks before it answers. Default: true. Q3 family only. */
  readonly enable_thinking?: boolean;
  /** Maximum tokens of thinking, 1 to 32,768. The service's default is 4,096. Q3 family only. */
  readonly thinking_budget?: number;
  /** Least probability of a token, as a share of the likeliest one's, 0 to 1. The service's default is 0.05. Q3 family only. */
  readonly min_p?: number;
  /** Whether the model thinks before it answers. D family only. */
  readonly thinking?: {
    /** Whether it thinks. */
    readonly type: "enabled" | "disabled";
  };
  /** Amount of thinking; `none` turns it off. Models outside the Q3, D and S families only. */
  readonly reasoning_effort?: "low" | "medium" | "high" | "none";
}

const ContentPart = z.discriminatedUnion("type", [
  optionsOf<TextPart>()({ type: z.literal("text"), text: z.string().optional() }),
  optionsOf<ImagePart>()({
    type: z.literal("image_url"),
    image_url: optionsOf<ImageAddress>()({
      url: z.string().regex(/^(https?:\/\/|data:image\/)/, "must be an http(s) address or a data:image/… value"),
      detail: z.enum(["auto", "low", "high"]).optional(),
    }),
  }),
]);

export const Message = optionsOf<Message>()({
  role: z.enum(["system", "user", "assistant"]),
  content: z.union([z.string(), z.array(ContentPart).min(1)]),
});

export const RoleToolMessage = z.union([
  Message,
  optionsOf<CallingMessage>()({
    role: z.literal("assistant"),
    content: z.string(),
    tool_calls: z
      .array(
        optionsOf<WireToolCall>()({
          id: z.string().min(1),
          type: z.literal("function"),
          function: optionsOf<WireToolCall["function"]>()({ name: z.string().min(1), arguments: z.string() }),
          extra_content: z.record(z.string(), z.unknown()).optional(),
        }),
      )
      .min(1),
    reasoning_content: z.string().optional(),
  }),
  optionsOf<ToolMessage>()({ role: z.literal("tool"), tool_call_id: z.string().min(1), content: z.string() }),
]);

export const ChatTool = optionsOf<ChatTool>()({
  type: z.literal("function"),
  function: optionsOf<FunctionDescription>()({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores or hyphens"),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

export const ChatRequest = optionsOf<ChatRequest>()({
  model: z.string().min(1),
  messages: z.array(Message).min(1).max(maxMessages),
  stream: z.boolean().optional(),
  max_tokens: z.int().min(1).max(maxOutputTokens.llm).optional(),
  stop: z.array(z.string().min(1)).min(1).max(4).nullish(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().gt(0).max(1).optional(),
  top_k: z.union([z.literal(-1), z.int().min(1).max(100)]).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  n: z.int().min(1).optional(),
  response_format: z.strictObject({ type: z.enum(["text", "json_object"]) }).optional(),
  tools: z.array(ChatTool).max(128).optional(),
  enable_thinking: z.boolean().optional(),
  thinking_budget: z.int().min(1).max(32_768).optional(),
  min_p: z.number().min(0).max(1).optional(),
  thinking: z.strictObject({ type: z.enum(["enabled", "disabled"]) }).optional(),
  reasoning_effort: z.enum(["low", "medium", "high", "none"]).optional(),
});

/** The request of services that take the role `tool`. @internal */
export const RoleToolChatRequest = ChatRequest.extend({ messages: z.array(RoleToolMessage).min(1).max(maxMessages) });

const ToolCall = z.object({
  index: optional(position),
  id: text,
  type: text,
  // Some services leave the arguments out of a call that has none, and out of the first piece of one.
  function: z.object({ name: text, arguments: z.unknown().optional() }).nullish(),
  extra_content: optional(z.record(z.string(), z.unknown())),
});

/** Token counts; a stream may report them many times, and the last report is valid. */
export const ChatUsage = z.object({
  prompt_tokens: amount,
  completion_tokens: amount,
  total_tokens: amount,
  completion_tokens_details: optional(z.object({ reasoning_tokens: amount })),
  prompt_tokens_details: optional(z.object({ cached_tokens: amount })),
  /** DeepSeek's name for the cached tokens, and that of Together. */
  prompt_cache_hit_tokens: amount,
  cached_tokens: amount,
});

const replyFields = {
  id: text,
  model: text,
  /** Seconds since 1970. */
  created: amount,
};

/** The text of a reply that a service writes in parts, its thinking, or its words of declining. */
function joined(parts: unknown, field: "text" | "thinking" | "refusal"): string {
  if (!Array.isArray(parts)) return typeof parts === "string" ? parts : "";
  const values = parts.filter(isRecord).map((part) => part[field]);
  return values.map((value) => joined(value, "text")).join("");
}

/** Puts what other services write in their own way into the contract's fields: content in parts, and `reasoning`. */
function inContractFields(part: unknown): unknown {
  if (!isRecord(part)) return part;
  const { content, reasoning_content, reasoning, refusal } = part;
  if (!Array.isArray(content))
    return reasoning === undefined ? part : { ...part, reasoning_content: reasoning_content ?? reasoning };
  return {
    ...part,
    content: joined(content, "text"),
    reasoning_content: joined(content, "thinking"),
    refusal: refusal ?? joined(content, "refusal"),
  };
}

const MessagePart = z.preprocess(
  inContractFields,
  z.object({
    role: text,
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    /** Text that replaces the content when the model declines to answer. */
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
);

const choiceFields = { index: optional(position), finish_reason: text };

/** @internal */
export const ChatReply = z.object({
  ...replyFields,
  choices: z.array(z.object({ ...choiceFields, message: MessagePart })),
  usage: optional(ChatUsage),
});

/** One `data:` line of a streamed reply. `choices` may be empty and `delta` missing. @internal */
export const ChatChunk = z.object({
  ...replyFields,
  choices: z.array(z.object({ ...choiceFields, delta: MessagePart.nullish() })).nullish(),
  usage: optional(ChatUsage),
});

/** Fields that only one family takes. A model of no family takes `reasoning_effort` alone. */
const familyFields: readonly { readonly field: keyof ChatRequest; readonly family: ModelFamily }[] = [
  { field: "enable_thinking", family: "Q3" },
  { field: "thinking_budget", family: "Q3" },
  { field: "min_p", family: "Q3" },
  { field: "thinking", family: "D" },
];

/** @internal */
function chatRules(request: z.output<typeof RoleToolChatRequest>, model: ModelInfo): readonly Violation[] {
  const found: Violation[] = [];
  const refuse = (field: string, message: string) => found.push({ field, message, rule: "model" });
  const refuseFamily = (field: string, takers: string) =>
    found.push({ field, message: `${takers}, ${model.id} is ${describe(model)}`, rule: "family" });
  const vision = model.type === "vlm";
  for (const [index, { content }] of request.messages.entries()) {
    if (vision !== (typeof content === "string")) continue;
    const wanted = vision ? "an array of parts for the vision model" : "a string for";
    refuse(`messages.${index}.content`, `must be ${wanted} ${model.id}`);
  }
  if (vision && request.max_tokens !== undefined && request.max_tokens > maxOutputTokens.vlm) {
    refuse("max_tokens", `is ${request.max_tokens}, at most ${maxOutputTokens.vlm} for the vision model ${model.id}`);
  }
  for (const { field, family } of familyFields) {
    if (request[field] !== undefined && (vision || model.family !== family)) {
      refuseFamily(field, `only models of the ${family} family take it`);
    }
  }
  if (request.reasoning_effort !== undefined && (vision || model.family !== undefined)) {
    refuseFamily("reasoning_effort", "models of the Q3, D and S families do not take it");
  }
  if (vision && request.tools !== undefined) {
    refuse("tools", `only text models take tools, ${model.id} is a vision model`);
  }
  return found;
}

function describe({ type, family }: ModelInfo): string {
  if (type === "vlm") return "a vision model";
  return family === undefined ? "of no such family" : `of the ${family} family`;
}

/** @internal */
export const chat = {
  name: "chat",
  method: "POST",
  path: "/llm/v1/chat/completions",
  request: ChatRequest,
  reply: ChatReply,
  rules: chatRules,
  guessedBounds: ["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"],
  repeat: "always",
  readTimeoutMs: 600_000,
} as const satisfies Operation<typeof ChatRequest, typeof ChatReply>;

/** The same operation with messages of the role `tool`, which the contract does not have. @internal */
export const roleToolChat = { ...chat, request: RoleToolChatRequest } as const satisfies Operation<
  typeof RoleToolChatRequest,
  typeof ChatReply
>;
