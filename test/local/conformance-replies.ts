import { z } from "zod";
import { fixedRatios } from "../../src/local/video/file/frame-size.js";
import type { ConformanceCase, ConformanceModels } from "./conformance-cases.js";
import { pngUrl } from "./video/media-samples.js";

/** A table of the specification about a reply: one row for each field. */
export interface ReplyTable {
  readonly section: string;
  /** The reply that the table describes. */
  readonly what: string;
  readonly operation: ConformanceCase["operation"];
  readonly body: object;
  readonly rows: readonly ReplyRow[];
}

/** `choices[].index`: brackets stand for every element of a list, which must not be empty. */
export type ReplyRow = readonly [field: string, value: z.ZodType];

const count = z.int().min(0);
const name = z.string().min(1);
const someSeconds = z.int().min(1_600_000_000);

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const completion: readonly ReplyRow[] = [
  ["id", name],
  ["object", z.literal("chat.completion")],
  ["created", someSeconds],
  ["model", name],
  ["choices[].message.role", z.literal("assistant")],
  ["choices[].message.content", z.string()],
  ["choices[].finish_reason", name],
  ["usage.prompt_tokens", count.min(1)],
  ["usage.completion_tokens", count.min(1)],
  ["usage.total_tokens", count.min(2)],
];

const embedding = (value: z.ZodType): readonly ReplyRow[] => [
  ["object", z.literal("list")],
  ["model", name],
  ["data[].object", z.literal("embedding")],
  ["data[].embedding", value],
  ["data[].index", count],
  ["usage.prompt_tokens", count.min(1)],
  ["usage.total_tokens", count.min(1)],
  ["usage.completion_tokens", count.optional()],
];

export function replyTables(models: ConformanceModels): readonly ReplyTable[] {
  const hello = [{ role: "user", content: "Say hello." }];
  const picture = [{ type: "image_url", image_url: { url: pngUrl(64, 64) } }];
  const texts = { model: models.embedding, input: ["one", "two", "three"] };
  const ranking = { model: models.rerank, query: "apple", documents: ["banana", "apple", "cherry"] };
  const chat = "Chat completion response";
  return [
    {
      section: chat,
      what: "an LLM's",
      operation: "chat",
      body: { model: models.llm, messages: hello, stream: false },
      rows: completion,
    },
    {
      section: chat,
      what: "a VLM's",
      operation: "chat",
      body: { model: models.vlm, messages: [{ role: "user", content: picture }], stream: false },
      rows: completion,
    },
    {
      section: chat,
      what: "one of a model that thinks",
      operation: "chat",
      body: { model: models.q3, messages: hello, stream: false },
      rows: [...completion, ["choices[].message.reasoning_content", name]],
    },
    {
      section: chat,
      what: "one that calls a tool",
      operation: "chat",
      body: {
        model: models.llm,
        messages: [{ role: "user", content: "What is the weather in New York? Use the tool." }],
        tools: [weather],
        stream: false,
      },
      rows: [
        ...completion.filter(([field]) => field !== "choices[].message.content"),
        ["choices[].message.content", z.string().nullable()],
        ["choices[].message.tool_calls[].id", name],
        ["choices[].message.tool_calls[].type", z.literal("function")],
        ["choices[].message.tool_calls[].function.name", z.literal("get_weather")],
        ["choices[].message.tool_calls[].function.arguments", z.string().refine(isObject)],
      ],
    },
    {
      section: "4. Create rerank request, response",
      what: "one with documents",
      operation: "rerank",
      body: { ...ranking, return_documents: true },
      rows: [
        ["id", name],
        ["results[].index", count.max(2)],
        ["results[]", z.union([z.looseObject({ relevance_score: z.number() }), z.looseObject({ score: z.number() })])],
        ["results[].document", z.union([z.looseObject({ text: name }), name])],
        [
          "tokens",
          z.union([
            z.looseObject({ input_tokens: count, output_tokens: count }),
            z.looseObject({ prompt_tokens: count, total_tokens: count }),
          ]),
        ],
      ],
    },
    {
      section: "5. Create embedding request, response",
      what: "one of numbers",
      operation: "embeddings",
      body: { ...texts, encoding_format: "float" },
      rows: embedding(z.array(z.number()).min(1)),
    },
    {
      section: "5. Create embedding request, response",
      what: "one of base64",
      operation: "embeddings",
      body: { ...texts, encoding_format: "base64" },
      rows: embedding(z.base64().min(4)),
    },
    {
      section: "1. Create video generation task, response",
      what: "the only one",
      operation: "createVideoTask",
      body: { model: models.video, content: [{ type: "text", text: "a cat" }] },
      rows: [["id", name]],
    },
  ];
}

/** A task that succeeded, of a request that asks for a last frame and lets the model search. */
export const finishedTask: readonly ReplyRow[] = [
  ["id", name],
  ["model", name],
  ["status", z.literal("succeeded")],
  ["error", z.null().optional()],
  ["created_at", someSeconds],
  ["updated_at", someSeconds],
  ["content.video_url", z.url()],
  ["content.last_frame_url", z.url()],
  ["seed", count.max(2 ** 32 - 1)],
  ["resolution", z.literal("720p")],
  ["ratio", z.enum(fixedRatios)],
  ["duration", z.literal(5)],
  ["frames", z.undefined()],
  ["framespersecond", z.literal(24)],
  ["generate_audio", z.literal(true)],
  ["service_tier", z.literal("default")],
  ["execution_expires_after", z.literal(172_800)],
  ["usage.completion_tokens", count.min(1)],
  ["usage.total_tokens", count.min(1)],
  ["usage.tool_usage.web_search", count],
];

/** One event of a streamed reply. */
export const streamedEvent: readonly ReplyRow[] = [
  ["id", name],
  ["object", z.literal("chat.completion.chunk")],
  ["created", someSeconds],
  ["model", name],
  [
    "choices",
    z.array(
      z.looseObject({
        index: count,
        delta: z.looseObject({
          role: z.literal("assistant").optional(),
          content: z.string().nullish(),
          reasoning_content: z.string().nullish(),
        }),
        finish_reason: name.nullable(),
      }),
    ),
  ],
];

/** All values at a field; `undefined` for one that is not there. Throws where a list is empty or none. */
export function valuesAt(body: unknown, field: string): readonly unknown[] {
  return field.split(".").reduce<readonly unknown[]>(
    (values, step) => {
      const own = values.map((value) => propertyOf(value, step.replace("[]", "")));
      return step.endsWith("[]") ? own.flatMap((list) => elements(list, field)) : own;
    },
    [body],
  );
}

/** Lists the problems with the values of a field; empty when each is as the row says. */
export function faultsAt(body: unknown, [field, value]: ReplyRow): readonly string[] {
  return valuesAt(body, field)
    .filter((found) => !value.safeParse(found).success)
    .map((found) => `${field} is ${JSON.stringify(found)}`);
}

function propertyOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function elements(list: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(list) || list.length === 0) throw new Error(`${field}: no list with elements`);
  return list;
}

function isObject(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
