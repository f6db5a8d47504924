import { z } from "zod";

const TextPart = z.object({ type: z.literal("text"), text: z.string() });
const ImagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string(), detail: z.enum(["auto", "low", "high"]).nullish() }),
});
const ThinkingPart = z.object({ type: z.literal("thinking"), thinking: z.string() });
const DocumentPart = z.object({
  type: z.literal("document"),
  document: z.object({ data: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
});

const Texts = z.union([z.string(), z.array(TextPart)]);
const ToolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});

const Message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: Texts }),
  z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextPart, ImagePart]))]),
  }),
  z.object({
    role: z.literal("assistant"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextPart, ThinkingPart]))]).nullish(),
    tool_plan: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.object({
    role: z.literal("tool"),
    tool_call_id: z.string(),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextPart, DocumentPart]))]),
  }),
]);
export type CohereMessage = z.output<typeof Message>;

/** A chat request of Cohere's second version. Null means absent. https://docs.cohere.com/reference/chat */
export const CohereChatRequest = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  tools: z
    .array(
      z.object({
        type: z.literal("function"),
        function: z.object({
          name: z.string(),
          description: z.string().nullish(),
          parameters: z.record(z.string(), z.unknown()).nullish(),
        }),
      }),
    )
    .nullish(),
  tool_choice: z.enum(["REQUIRED", "NONE"]).nullish(),
  response_format: z
    .object({ type: z.enum(["text", "json_object"]), json_schema: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  temperature: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  k: z.int().nullish(),
  p: z.number().nullish(),
  thinking: z.object({ type: z.enum(["enabled", "disabled"]), token_budget: z.int().nullish() }).nullish(),
});
export type CohereChatRequest = z.output<typeof CohereChatRequest>;

/** An embeddings request of Cohere's second version, for texts. Null means absent. https://docs.cohere.com/reference/embed */
export const CohereEmbedRequest = z.object({
  model: z.string(),
  texts: z.array(z.string()).nullish(),
  inputs: z.array(z.object({ content: z.array(TextPart) })).nullish(),
  embedding_types: z
    .array(z.enum(["float", "base64"], "must be float or base64: vectors are not made of smaller numbers here"))
    .nullish(),
  output_dimension: z.int().min(1).nullish(),
  /** The vectors of questions and of documents are the same. */
  input_type: z.string().nullish(),
});
export type CohereEmbedRequest = z.output<typeof CohereEmbedRequest>;
