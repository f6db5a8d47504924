import { z } from "zod";
import { OptionsError } from "./errors.js";
import type { Filter } from "./filter.js";
import type { JsonSchema } from "./ports.js";
import type { Hit, ModelRequest } from "./types.js";

export interface ToolContext {
  /** Ends when the answer is aborted or the tool's own time is up. */
  readonly signal: AbortSignal;
  /** The question's: nothing of documents that it does not let through may come into the answer. */
  readonly filter?: Filter;
}

/** What a tool with `sources` returns. */
export interface Findings {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** What models were asked for to find them, for the account of the answer. */
  readonly requests?: readonly ModelRequest[];
}

/** A function that a model may call. Its input was checked against `input` before `run` sees it. */
export interface Tool<Input = never, Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly run: (input: Input, context: ToolContext) => Output | Promise<Output>;
  /** Changes something outside this process. Such a tool is withheld while untrusted text is in the context, unless approved. */
  readonly writes: boolean;
  /** What it returns are `Findings`: they join the numbered sources of the answer, to be cited and checked like them. */
  readonly sources: boolean;
  /** Most time for one run, in milliseconds. */
  readonly timeoutMs: number;
  /** `input` as the JSON Schema that models are told. */
  readonly parameters: JsonSchema;
}

/** Any tool, whatever its types: what a list of tools holds. To be run only with what its `input` schema returned. */
export type AnyTool = Omit<Tool, "input" | "run"> & {
  readonly input: z.ZodType;
  readonly run: (input: never, context: ToolContext) => unknown;
};

export interface ToolOptions<Schema extends z.ZodType, Output> {
  /** What the model calls it. Any text; it is mapped to the service's letters and back. */
  readonly name: string;
  /** Tells the model when and how to use it. */
  readonly description: string;
  /** Schema of the arguments: an object. */
  readonly input: Schema;
  readonly run: (input: z.output<Schema>, context: ToolContext) => Output | Promise<Output>;
  /** Whether it changes something outside this process. Default: false. */
  readonly writes?: boolean;
  /** Whether it returns `Findings`, whose hits become sources of the answer. Default: false. */
  readonly sources?: boolean;
  /** 1 to 3,600,000; default 60,000. */
  readonly timeoutMs?: number;
}

/**
 * Declares a tool; the types of `run` follow from the schema.
 *
 * @throws OptionsError when the schema is not one of an object or has no JSON Schema, or the time-out is out of range.
 */
export function tool<Schema extends z.ZodType, Output>(
  options: ToolOptions<Schema, Output>,
): Tool<z.output<Schema>, Output> {
  const { name, description, input, run, writes = false, sources = false, timeoutMs = 60_000 } = options;
  if (name.trim() === "") throw new OptionsError("options", "tool: name is empty");
  if (!(timeoutMs >= 1 && timeoutMs <= 3_600_000)) {
    throw new OptionsError("options", `tool ${name}: timeoutMs is ${timeoutMs}, must be 1 to 3,600,000`);
  }
  return {
    name,
    description,
    input: input as z.ZodType<z.output<Schema>>,
    run,
    writes,
    sources,
    timeoutMs,
    parameters: objectSchema(name, input),
  };
}

function objectSchema(name: string, input: z.ZodType): JsonSchema {
  let schema: JsonSchema;
  try {
    schema = z.toJSONSchema(input, { io: "input", target: "draft-7" });
  } catch (cause) {
    throw new OptionsError("options", `tool ${name}: its input has no JSON Schema: ${String(cause)}`, { cause });
  }
  if (schema["type"] !== "object") {
    throw new OptionsError("options", `tool ${name}: input must be a schema of an object, such as z.object({ … })`);
  }
  const { $schema: _, ...rest } = schema;
  return rest;
}
