import { z } from "zod";
import { ChatTool, chat } from "../contract/chat.js";
import { EmbeddingsRequest, embeddings } from "../contract/embeddings.js";
import { RerankRequest, rerank } from "../contract/rerank.js";
import type { OptionalChatField, ServiceProfile } from "./service-profile.js";
import type { ChatFieldOf, OtherService } from "./services.js";

// Requests to services that are not the contract's own. The shape is checked, so that a mistake is found before it is
// sent; the bounds of values are the service's own business.

const Role = z.enum(["system", "user", "assistant", "tool"]);

/** Messages of a service pass with all that they hold: a service refuses by itself what it does not know. */
const messageOf = (role: z.ZodType) =>
  z.looseObject({
    role,
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })).min(1)]).nullish(),
  });

const PlainFormat = z.strictObject({ type: z.enum(["text", "json_object"]) });

const JsonSchemaFormat = z.strictObject({
  type: z.literal("json_schema"),
  json_schema: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores or hyphens"),
    description: z.string().optional(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullish(),
  }),
});

const NamedTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({ name: z.string().min(1) }),
});

/** Fields that the services of the table take, under the names that the contract or most of them use. */
const common = {
  model: z.string().min(1),
  stream: z.boolean().optional(),
  max_tokens: z.int().min(1).optional(),
  stop: z.array(z.string().min(1)).min(1).nullish(),
  temperature: z.number().min(0).optional(),
  top_p: z.number().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  response_format: z.union([PlainFormat, JsonSchemaFormat]).optional(),
  tools: z.array(ChatTool).optional(),
  seed: z.int().optional(),
};

const optional = {
  n: z.int().min(1).optional(),
  top_k: z.int().optional(),
  min_p: z.number().optional(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), NamedTool]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.string().min(1).optional(),
} as const satisfies Readonly<Record<OptionalChatField, z.ZodType>>;

/** A request with all fields that any of the services takes. */
export const ServiceChatRequest = z.strictObject({ messages: z.array(messageOf(Role)).min(1), ...common, ...optional });

/** A form that a reply is to have. */
type ReplyFormat =
  | {
      /** Plain text, or one JSON object. */
      readonly type: "text" | "json_object";
    }
  | {
      /** One JSON object that follows a schema. */
      readonly type: "json_schema";
      readonly json_schema: {
        /** Letters, digits, `_` and `-`, at most 64. */
        readonly name: string;
        /** Describes the object to the model. */
        readonly description?: string;
        /** JSON Schema of the object. */
        readonly schema: Readonly<Record<string, unknown>>;
        /** Whether the reply must keep to it word for word; then services take only a part of JSON Schema. Default: the service's. */
        readonly strict?: boolean | null;
      };
    };

interface CommonFields {
  /** Asks for the same reply to the same request, as far as the service can. Default: another one each time. */
  readonly seed?: number;
  /** The form of the reply. Default: text. */
  readonly response_format?: ReplyFormat;
}

interface ToolFields {
  /** `required`: the reply calls at least one tool. An object: it calls that one. Default: `auto`, the model decides. */
  readonly tool_choice?:
    | "none"
    | "auto"
    | "required"
    | {
        readonly type: "function";
        readonly function: {
          /** Name of the function. */
          readonly name: string;
        };
      };
  /** Whether one reply may call several tools. Default: true. */
  readonly parallel_tool_calls?: boolean;
}

interface SamplingFields {
  /** Number of replies to make, each of which costs. Default: 1. */
  readonly n?: number;
  /** Tokens to choose the next one from: the most likely ones. Default: the service's. */
  readonly top_k?: number;
  /** Least probability of a token, relative to the most likely one, 0 to 1. Default: the service's. */
  readonly min_p?: number;
  /** Amount of thinking, such as `none`, `low` or `high`; the model defines the words. Default: the model's. */
  readonly reasoning_effort?: string;
}

/** Fields of a chat request at a service that the contract lacks, or that only some services have. */
export type ServiceChatFields<Service extends OtherService> = CommonFields &
  Pick<ToolFields & SamplingFields, ChatFieldOf<Service>>;

/** Only the contract has rules between fields and guessed bounds. */
const unruled = { rules: undefined, guessedBounds: undefined };

/** The operations whose requests differ, as a service takes them. @internal */
export function serviceRequests(owner: string, { embeddings: vectors, chat: chats }: ServiceProfile) {
  const fields = chats?.fields ?? (Object.keys(optional) as OptionalChatField[]);
  const taken = Object.fromEntries(fields.map((field) => [field, optional[field]]));
  const format = chats?.jsonSchema === "none" && { response_format: PlainFormat.optional() };
  const role = chats?.developer ? z.union([Role, z.literal("developer")]) : Role;
  const hasLengths = vectors === undefined || vectors.dimensions !== undefined;
  return {
    embeddings: {
      ...embeddings,
      ...unruled,
      owner,
      request: hasLengths ? EmbeddingsRequest : EmbeddingsRequest.omit({ dimensions: true }),
    },
    rerank: {
      ...rerank,
      ...unruled,
      owner,
      request: RerankRequest.omit({ max_chunks_per_doc: true, overlap_tokens: true }),
    },
    chat: {
      ...chat,
      ...unruled,
      owner,
      request: z.strictObject({ messages: z.array(messageOf(role)).min(1), ...common, ...taken, ...format }),
    },
  };
}
