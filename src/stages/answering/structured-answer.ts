import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { type JsonSchema, jsonSchemaOf } from "../../core/json.js";
import type { ChatMessage, TokenCounter } from "../../core/ports.js";
import { longestStart } from "../../text/blocks/cut-text.js";
import { escapeTags } from "../../text/prompt/prompt-tags.js";
import { renderSourcedQuestion } from "../../text/prompt/prompt.js";
import { type ClaimedSource, readStructuredReply, structuredPrompt } from "../../text/prompt/structured-reply.js";

/** A reply that fits its schema, or a description of its mistakes. */
type ReadReply =
  | {
      readonly answered: boolean;
      /** The schema's output; undefined when there is no answer. */
      readonly value: unknown;
      /** The answer as the model wrote it: JSON, or plain text if it is a string. */
      readonly text: string;
      readonly sources: readonly ClaimedSource[];
    }
  | { readonly problem: string };

/** Asks for answers that are values of a schema, and reads them. */
export interface AnswerStructure {
  /** Schema of the whole reply, for models that can be held to one. */
  readonly replySchema: JsonSchema;
  readonly systemPrompt: (instructions: string) => string;
  readonly read: (reply: string) => Promise<ReadReply>;
}

/** @throws OptionsError when the schema has no JSON Schema. */
export function answerStructure(schema: z.core.$ZodType): AnswerStructure {
  const described = describe(schema);
  return {
    replySchema: describe(replyOf(schema)),
    systemPrompt: (instructions) => structuredPrompt(described, instructions),
    read: async (reply) => {
      const found = readStructuredReply(reply);
      if ("problem" in found) return found;
      const { answered, answer, sources } = found;
      if (!answered) return { answered, value: undefined, text: "", sources };
      const checked = await z.safeParseAsync(schema, answer);
      if (!checked.success) return { problem: `"answer" does not fit its schema:\n${z.prettifyError(checked.error)}` };
      const text = typeof answer === "string" ? answer : JSON.stringify(answer, undefined, 2);
      return { answered, value: checked.data, text, sources };
    },
  };
}

/** The fields in the order of the prompt: a reply that is held to the schema names its sources before it answers. */
function replyOf(schema: z.core.$ZodType): z.core.$ZodType {
  const citation = z.object({ source: z.int().min(1).max(9999), quote: z.string() });
  return z.object({ citations: z.array(citation), answered: z.boolean(), answer: z.optional(schema) });
}

function describe(schema: z.core.$ZodType): JsonSchema {
  try {
    return jsonSchemaOf(schema);
  } catch (cause) {
    throw new OptionsError("options", `answer: schema has no JSON Schema: ${String(cause)}`, { cause });
  }
}

/** A reply that could not be used. */
export interface BadReply {
  readonly text: string;
  readonly problem: string;
}

/** Tokens reserved for repairing a reply, beside the conversation and the question, which is repeated. */
export const repairTokens = 1024;
/** A repair sends two messages: the reply, and its mistakes. */
export const repairMessageCount = 2;
/** The tokens for the reply and the problem each; the words around them and the framing need the rest. */
const partTokens = 448;

/** Sends the model its reply and the mistakes in it, both cut if they are long, and asks again. */
export function repairMessages(
  { text, problem }: BadReply,
  question: string,
  tokens: TokenCounter,
): readonly ChatMessage[] {
  const cut = (part: string) => longestStart(part, (start) => tokens.count(start) <= partTokens);
  return [
    { role: "assistant", content: cut(escapeTags(text.trim() === "" ? "(nothing)" : text)) },
    {
      role: "user",
      content: `Your reply cannot be used. ${cut(escapeTags(problem))}\nReply again, with the one JSON object that was asked for and nothing else.\n${renderSourcedQuestion({ sources: [], question })}`,
    },
  ];
}
