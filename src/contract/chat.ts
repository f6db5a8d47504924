import { z } from "zod";
import type { ModelFamily, ModelInfo } from "./catalogue.js";
import type { Operation, Violation } from "./operation.js";

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

const ContentPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().optional() }),
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.strictObject({
      url: z.string().regex(/^(https?:\/\/|data:image\/)/, "must be an http(s) address or a data:image/… value"),
      detail: z.enum(["auto", "low", "high"]).optional(),
    }),
  }),
]);

export const Message = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  /** A string for an LLM, an array of at least one part for a VLM. */
  content: z.union([z.string(), z.array(ContentPart).min(1)]),
});

/** Beyond the contract: an assistant's message with its tool calls, and their results, for services with the role `tool`. */
export const RoleToolMessage = z.union([
  Message,
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    tool_calls: z
      .array(
        z.strictObject({
          id: z.string().min(1),
          type: z.literal("function"),
          function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
        }),
      )
      .min(1),
    reasoning_content: z.string().optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string().min(1), content: z.string() }),
]);

const ChatTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores or hyphens"),
    description: z.string().optional(),
    /** A JSON Schema of an object. Left out: the function has no parameters. */
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

export const ChatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1).max(maxMessages),
  /** The service's default is true for an LLM, false for a VLM: always send it. */
  stream: z.boolean().optional(),
  /** LLM 1 to 16384, VLM 1 to 4096; the service's default of 512 cuts most answers. */
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
  /** Q3 family only. */
  enable_thinking: z.boolean().optional(),
  /** Q3 family only: maximum tokens of thinking. */
  thinking_budget: z.int().min(1).max(32_768).optional(),
  /** Q3 family only. */
  min_p: z.number().min(0).max(1).optional(),
  /** D family only. */
  thinking: z.strictObject({ type: z.enum(["enabled", "disabled"]) }).optional(),
  /** Models outside the Q3, D and S families only. `none` turns thinking off. */
  reasoning_effort: z.enum(["low", "medium", "high", "none"]).optional(),
});
export type ChatRequest = z.input<typeof ChatRequest>;

/** The request of services that take the role `tool`. */
export const RoleToolChatRequest = ChatRequest.extend({ messages: z.array(RoleToolMessage).min(1).max(maxMessages) });

const ToolCall = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown() }).nullish(),
});

/** Token counts; a stream may report them many times, and the last report is valid. */
export const ChatUsage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
});

const replyFields = {
  id: z.string().nullish(),
  model: z.string().nullish(),
  created: z.number().nullish(),
};

const MessagePart = z.object({
  role: z.string().nullish(),
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
});

const choiceFields = { index: z.int().nullish(), finish_reason: z.string().nullish() };

export const ChatReply = z.object({
  ...replyFields,
  choices: z.array(z.object({ ...choiceFields, message: MessagePart })),
  usage: ChatUsage.nullish(),
});

/** One `data:` line of a streamed reply. `choices` may be empty and `delta` missing. */
export const ChatChunk = z.object({
  ...replyFields,
  choices: z.array(z.object({ ...choiceFields, delta: MessagePart.nullish() })).nullish(),
  usage: ChatUsage.nullish(),
});

/** Fields that only one family takes. A model of no family takes `reasoning_effort` alone. */
const familyFields: readonly { readonly field: keyof ChatRequest; readonly family: ModelFamily }[] = [
  { field: "enable_thinking", family: "Q3" },
  { field: "thinking_budget", family: "Q3" },
  { field: "min_p", family: "Q3" },
  { field: "thinking", family: "D" },
];

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

/** The same operation with messages of the role `tool`, which the contract does not have. */
export const roleToolChat = { ...chat, request: RoleToolChatRequest } as const satisfies Operation<
  typeof RoleToolChatRequest,
  typeof ChatReply
>;
