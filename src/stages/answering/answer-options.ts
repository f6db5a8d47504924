import { z } from "zod";
import type { Searchable } from "../../core/ports.js";
import { functionOption, listOption, optionsOf } from "../../core/options.js";
import type { PictureOrigin } from "../../core/types.js";
import type { AnyTool } from "../../core/tool.js";

/** The highest number that a citation marker can have. */
export const maxSources = 999;

/** A call of a tool with `writes` that is about to run. */
export interface ApprovalRequest {
  /** Name of the tool. */
  readonly name: string;
  /** The arguments, as the tool's schema returned them. A copy: changing it changes nothing about the call. */
  readonly input: unknown;
  /**
   * Whether the model had read text that is not the user's when it made the call: sources, earlier answers, or results of
   * tools, those of the same reply included. Such text may have asked for the call.
   */
  readonly untrusted: boolean;
  /** Aborts when the answer is aborted or the time for the approval is up. */
  readonly signal: AbortSignal;
}

/**
 * Says whether a call may run. `"later"`: the answer ends as `waiting`, and any process resumes it with the decision. Anything
 * else but `true`, and any error, is a no.
 */
export type Approve = (request: ApprovalRequest) => boolean | "later" | Promise<boolean | "later">;

const asTool = "must be made by tool({ name, description, input, run })";

/** Whether it says that it writes or does not: an object without `writes` would be run without approval. */
function isTool(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "run" in value &&
    "writes" in value &&
    typeof value.writes === "boolean"
  );
}

export interface AnswerOptions {
  /** Tools that the model may call, made by `tool()`. At most 128, which is the service's limit. Default: none. */
  readonly tools?: readonly AnyTool[];
  /** Instructions of your own, added to those on sources and citations. Default: none. */
  readonly instructions?: string;
  /**
   * The schema of the answer, which then comes as a checked `value`. The model replies in JSON, with its citations
   * beside the answer; a reply that does not fit is sent back once with its mistakes. Default: the answer is a text.
   */
  readonly schema?: z.core.$ZodType;
  /**
   * `required`: the model is told to call a tool before it answers, and an answer without a call has a warning, since the
   * service has no field to force one. Default: `auto`, the model decides.
   */
  readonly toolUse?: "auto" | "required";
  /** Rounds of tool calls, after which the model is asked once more, without tools. 0 to 64; default 8. */
  readonly maxRounds?: number;
  /** Tokens kept free for the answer. Default 4,096; at most a quarter of the context. */
  readonly answerTokens?: number;
  /** Tokens kept free for the model's thinking. Default 4,096; at most an eighth of the context. 0 for a model that does not think. */
  readonly thinkingTokens?: number;
  /**
   * Maximum tokens that the model may write in one reply, thinking included, where less is wanted than `answerTokens` and
   * `thinkingTokens` together. 1 or more; default: their sum.
   */
  readonly maxReplyTokens?: number;
  /** Maximum tokens of request and reply together, 256 or more, to stay below the model's limit. Default: the model's limit. */
  readonly contextTokens?: number;
  /**
   * Reads pictures that passages describe, such as `storedPictures(folder)` of `citewell/load`: up to 4 of them go to a model that
   * sees, and cost what its service counts for them. Default: passages go as words alone.
   */
  readonly pictures?: (picture: PictureOrigin) => Promise<Uint8Array | undefined>;
  /**
   * Where to read documents, such as a store. While there is room, sources are then widened to the parents of their
   * chunks. Default: the knowledge base that is asked; the stage used alone has none, and its sources are the hits as
   * found.
   */
  readonly documents?: Pick<Searchable, "document">;
  /**
   * Maximum tokens of all sources together that widening may lead to; hits beyond it stay, and are not widened. 0 or
   * more; default 2,048, which leaves room to widen small chunks, but is little more than six of the default size, so
   * that nobody pays for twice the context unasked.
   */
  readonly widenTotalTokens?: number;
  /** Maximum tools that run at once; further calls of the same reply wait. 1 to 128; default 8. */
  readonly toolConcurrency?: number;
  /** Maximum tokens of one tool's result; longer ones are cut, and say so. 16 or more; default 2,000. */
  readonly toolResultTokens?: number;
  /** Sampling temperature, 0 to 2. Default: the model's own. */
  readonly temperature?: number;
  /**
   * Called before each call of a tool that writes. Without it such tools are withheld: the model is not offered them, a
   * call of one is answered with a refusal, and the answer has a warning. `"later"` leaves every decision to the caller
   * that resumes the answer.
   */
  readonly approve?: Approve | "later";
  /**
   * Maximum time for one approval, in milliseconds; no answer in time counts as a refusal. 1 to 86,400,000; default
   * 300,000, five minutes.
   */
  readonly approvalTimeoutMs?: number;
}

/**
 * Options of an answer with a schema. With `AnswerOptions &`, the compiler would compare all methods of zod's schemas
 * with each other, which costs a program with a single question more than compiling the rest of it.
 */
export type StructuredAnswerOptions<Schema extends z.core.$ZodType> = Omit<AnswerOptions, "schema"> & {
  /** Schema of the answer's value. */
  readonly schema: Schema;
};

/** @internal */
export const answerOptions = optionsOf<AnswerOptions>()({
  tools: listOption(z.array(z.custom<AnyTool>(isTool, asTool), `must be a list; each ${asTool}`).max(128)).default([]),
  instructions: z.string().default(""),
  schema: z
    .custom<z.core.$ZodType>(
      (value) => typeof value === "object" && value !== null && "_zod" in value,
      "must be a zod schema",
    )
    .optional(),
  toolUse: z.enum(["auto", "required"]).default("auto"),
  maxRounds: z.int().min(0).max(64).default(8),
  answerTokens: z.int().min(1).optional(),
  thinkingTokens: z.int().min(0).optional(),
  maxReplyTokens: z.int().min(1).optional(),
  contextTokens: z.int().min(256).optional(),
  pictures: functionOption<NonNullable<AnswerOptions["pictures"]>>().optional(),
  documents: z
    .custom<Pick<Searchable, "document">>(
      (value) => typeof (value as { readonly document?: unknown } | null)?.document === "function",
      "must have document(uri)",
    )
    .optional(),
  widenTotalTokens: z.int().min(0).default(2048),
  toolConcurrency: z.int().min(1).max(128).default(8),
  toolResultTokens: z.int().min(16).default(2000),
  temperature: z.number().min(0).max(2).optional(),
  approve: z
    .custom<Approve | "later">(
      (value) => value === "later" || typeof value === "function",
      'must be a function or "later"',
    )
    .transform((approve): Approve => (approve === "later" ? () => approve : approve))
    .optional(),
  approvalTimeoutMs: z.int().min(1).max(86_400_000).default(300_000),
});
/** @internal */
export type ResolvedAnswerOptions = z.output<typeof answerOptions>;
