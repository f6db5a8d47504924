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

const ToolChoice = z.union([z.string(), z.looseObject({ type: z.string(), mode: z.string().optional() })]);

/**
 * A request of OpenAI's Responses API, as its clients send it. Null means absent.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const OpenAiResponsesRequest = z.object({
  model: z.string(),
  input: z.union(
    [z.string().min(1), z.array(z.union([Message, Other])).min(1)],
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
