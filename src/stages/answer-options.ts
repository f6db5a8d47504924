import { z } from "zod";
import type { Searchable } from "../ports.js";
import type { AnyTool } from "../tool.js";

/** A call that a tool with `writes` is about to carry out. */
export interface ApprovalRequest {
  readonly name: string;
  /** Arguments, as the tool's schema returned them. */
  readonly input: unknown;
  /** Ends when the answer is aborted or the time for the approval is up. */
  readonly signal: AbortSignal;
}

/** Says whether a call may be carried out. Anything but `true`, and any error, is a no. */
export type Approve = (request: ApprovalRequest) => boolean | Promise<boolean>;

export const AnswerOptions = z.strictObject({
  /** Tools that the model may call, made by `tool()`. At most 128, the most that the service takes. Default: none. */
  tools: z
    .array(
      z.custom<AnyTool>((value) => typeof value === "object" && value !== null && "run" in value, "must be a tool()"),
    )
    .max(128)
    .default([]),
  /** Instructions of your own, added to those on sources and citations. Default: none. */
  instructions: z.string().default(""),
  /**
   * What the answer is to be: it comes as `value`, checked, and its words and numbers are the schema's. The model replies
   * in JSON, with its citations beside the answer; a reply that does not fit is shown to it once with what is wrong.
   * Default: a text.
   */
  schema: z
    .custom<z.ZodType>(
      (value) => typeof value === "object" && value !== null && "_zod" in value,
      "must be a zod schema",
    )
    .optional(),
  /**
   * `required`: the model is told to call a tool before it answers, and an answer without a call has a warning; services
   * have no field to force it. Default: `auto`, the model decides.
   */
  toolUse: z.enum(["auto", "required"]).default("auto"),
  /** Rounds of tool calls, after which the model is asked once more, without tools. 0 to 64; default 8. */
  maxRounds: z.int().min(0).max(64).default(8),
  /** Tokens kept free for the answer. Default 4,096; at most a quarter of the context. */
  answerTokens: z.int().min(1).optional(),
  /** Tokens kept free for the model's thinking. Default 4,096; at most an eighth of the context. 0 when it does not think. */
  thinkingTokens: z.int().min(0).optional(),
  /** Most tokens of request and reply, when that should be less than the model takes. Default: what the model takes. */
  contextTokens: z.int().min(256).optional(),
  /**
   * Where documents are read from, such as a store. With it sources are widened to what stands around them, the parents of
   * their chunks, while there is room. Default: the knowledge base that is asked; of the stage alone none, so that sources
   * are what was found.
   */
  documents: z
    .custom<Pick<Searchable, "document">>(
      (value) => typeof (value as { readonly document?: unknown } | null)?.document === "function",
      "must have document(uri)",
    )
    .optional(),
  /**
   * Most tokens of all sources together that widening may lead to: what was found beyond it stays, and is not widened. 0 or
   * more; default 2,048, which is room for small chunks and little more than six of the default size, so that nobody pays
   * for twice the context without having asked.
   */
  widenTotalTokens: z.int().min(0).default(2048),
  /** Most tools that run at once; further calls of the same reply wait. 1 to 128; default 8. */
  toolConcurrency: z.int().min(1).max(128).default(8),
  /** Most tokens of one tool's result; longer ones are cut, and say so. 16 or more; default 2,000. */
  toolResultTokens: z.int().min(16).default(2000),
  /** 0 to 2. Default: the model's own. */
  temperature: z.number().min(0).max(2).optional(),
  /**
   * Asked before each call of a tool that writes. Without it such tools are withheld as long as the context holds
   * untrusted text: sources, or results of tools.
   */
  approve: z.custom<Approve>((value) => typeof value === "function", "must be a function").optional(),
  /** Most time for one approval, in milliseconds; none in time is a no. 1 to 86,400,000; default 300,000, five minutes. */
  approvalTimeoutMs: z.int().min(1).max(86_400_000).default(300_000),
});
export type AnswerOptions = z.input<typeof AnswerOptions>;
export type ResolvedAnswerOptions = z.output<typeof AnswerOptions>;
