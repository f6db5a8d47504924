import { z } from "zod";

const TextPart = z.object({ type: z.literal("text"), text: z.string() });
const RefusalPart = z.object({ type: z.literal("refusal"), refusal: z.string() });
const ImagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string(), detail: z.enum(["auto", "low", "high"]).nullish() }),
});
const Content = z
  .union(
    [z.string(), z.array(z.discriminatedUnion("type", [TextPart, RefusalPart, ImagePart]))],
    "must be a string, or a list of parts of the types text and image_url",
  )
  .nullish();

const FunctionCall = z.object({ name: z.string().min(1), arguments: z.string() });
const ToolCall = z.object({ id: z.string(), type: z.literal("function"), function: FunctionCall });

const Message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer", "user"]), content: Content }),
  z.object({
    role: z.literal("assistant"),
    content: Content,
    tool_calls: z.array(ToolCall).nullish(),
    /** The only call of old clients, whose result has the role `function`. */
    function_call: FunctionCall.nullish(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: Content }),
  z.object({ role: z.literal("function"), name: z.string().min(1), content: Content }),
]);
export type OpenAiMessage = z.output<typeof Message>;

const Tool = z.object({
  type: z.literal("function"),
  function: z.object({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});

const NamedFunction = z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) });

const ToolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    NamedFunction,
    z.object({
      type: z.literal("allowed_tools"),
      allowed_tools: z.object({ mode: z.enum(["auto", "required"]), tools: z.array(NamedFunction) }),
    }),
  ],
  "must be none, auto, required, a function by its name, or allowed_tools",
);

const ResponseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string().nullish(),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const count = z.int().min(1).nullish();

/**
 * A chat request as clients of OpenAI's API send it. Null means absent. Fields that are not named here are unknown; those
 * named without use hold by themselves, since one request always gets one reply and nothing is stored.
 */
export const OpenAiChatRequest = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: count,
  /** Wins over `max_tokens`, which it replaced. */
  max_completion_tokens: count,
  stop: z.union([z.string(), z.array(z.string())], "must be a string or a list of strings").nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  n: count,
  response_format: ResponseFormat.nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: ToolChoice.nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  seed: z.int().nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  /** The contract's own fields, which clients pass as extra ones. */
  top_k: z.int().nullish(),
  enable_thinking: z.boolean().nullish(),
  thinking_budget: z.int().nullish(),
  min_p: z.number().nullish(),
  thinking: z.object({ type: z.enum(["enabled", "disabled"]) }).nullish(),
});
export type OpenAiChatRequest = z.output<typeof OpenAiChatRequest>;
