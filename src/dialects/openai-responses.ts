import { z } from "zod";

const Part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });

const Message = z.looseObject({
  type: z.literal("message").optional(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: z.union([z.string(), z.array(Part)]),
});
export type ResponsesMessage = z.output<typeof Message>;

/** Calls of tools, their results and traces of thinking, which clients send back. */
const Other = z.looseObject({ type: z.string(), role: z.undefined().optional() });

/** A reference to an item of an earlier response, in place of the item. */
const Reference = z.object({ type: z.literal("item_reference"), id: z.string(), role: z.undefined().optional() });

const ToolChoice = z.union([
  z.string(),
  z.looseObject({ type: z.string(), mode: z.string().optional(), name: z.string().optional() }),
]);

/**
 * A request of OpenAI's Responses API, as its clients send it. Null means absent.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const OpenAiResponsesRequest = z.object({
  model: z.string(),
  input: z.union(
    [z.string().min(1), z.array(z.union([Message, Reference, Other])).min(1)],
    "must be a text or a list of messages",
  ),
  instructions: z.string().nullish(),
  previous_response_id: z.string().min(1).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  temperature: z.number().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  tool_choice: ToolChoice.nullish(),
});
export type OpenAiResponsesRequest = z.output<typeof OpenAiResponsesRequest>;

const FunctionCall = z.object({
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string().min(1),
  arguments: z.string(),
});

const FunctionCallOutput = z.object({
  type: z.literal("function_call_output"),
  call_id: z.string(),
  output: z.union([z.string(), z.array(Part)]),
});

const Reasoning = z.looseObject({ type: z.literal("reasoning") });

const Tool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

/** A request to a model: as `OpenAiResponsesRequest`, with the client's own functions. */
export const ModelResponsesRequest = OpenAiResponsesRequest.extend({
  input: z.union(
    [z.string().min(1), z.array(z.union([Message, Reference, FunctionCall, FunctionCallOutput, Reasoning])).min(1)],
    "must be a text, or a list of messages, function calls, their outputs and references to items",
  ),
  text: z
    .object({
      format: z
        .looseObject({
          type: z.enum(["text", "json_object", "json_schema"]),
          name: z.string().nullish(),
          description: z.string().nullish(),
          schema: z.record(z.string(), z.unknown()).nullish(),
          strict: z.boolean().nullish(),
        })
        .nullish(),
    })
    .nullish(),
  tools: z.array(Tool).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  top_p: z.number().nullish(),
  reasoning: z.object({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
});
export type ModelResponsesRequest = z.output<typeof ModelResponsesRequest>;

/** An item of the input. */
export type ModelResponsesItem = Exclude<ModelResponsesRequest["input"], string>[number];
