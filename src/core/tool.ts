import { z } from "zod";
import { OptionsError } from "./errors.js";
import { type JsonSchema, jsonSchemaOf } from "./json.js";
import { resolve } from "./options.js";
import type { Filter } from "./filter.js";
import type { Hit, ModelRequest } from "./types.js";

export interface ToolContext {
  /** Aborted with the answer, or when the tool's own time is up. */
  readonly signal: AbortSignal;
  /** Filter of the question: nothing from documents that it does not admit may come into the answer. */
  readonly filter?: Filter;
}

/** The result of a tool with `sources`. */
export interface Findings {
  /** Passages found, best first. */
  readonly hits: readonly Hit[];
  /** Requests to models that it took to find them, for the account of the answer. */
  readonly requests?: readonly ModelRequest[];
}

/** A function that a model may call. Its input was checked against `input` before `run` sees it. */
export interface Tool<Input = never, Output = unknown> {
  /** Name that the model calls it by. */
  readonly name: string;
  /** Tells the model when and how to use it. */
  readonly description: string;
  /** Schema of the arguments: an object. */
  readonly input: z.core.$ZodType<Input>;
  /** Does the work. What it throws is told to the model as the result. */
  readonly run: (input: Input, context: ToolContext) => Output | Promise<Output>;
  /**
   * Changes something outside this process. Each of its calls needs the approval of `AnswerOptions.approve`; without that
   * option the tool is withheld.
   */
  readonly writes: boolean;
  /** Its results are `Findings`: they join the numbered sources of the answer, and are cited and checked like them. */
  readonly sources: boolean;
  /** Maximum time for one run, in milliseconds. */
  readonly timeoutMs: number;
  /** `input` as the JSON Schema that models are told. */
  readonly parameters: JsonSchema;
}

/** A tool of any types, as lists hold them. Run it only with the output of its `input` schema. */
export type AnyTool = Omit<Tool, "input" | "run"> & {
  /** Schema of the arguments: an object. */
  readonly input: z.core.$ZodType;
  /** Does the work. What it throws is told to the model as the result. */
  readonly run: (input: never, context: ToolContext) => unknown;
};

export interface ToolOptions<Schema extends z.core.$ZodType, Output> {
  /** Name that the model calls it by. Any text; it is mapped to the service's letters and back. */
  readonly name: string;
  /** Tells the model when and how to use it. */
  readonly description: string;
  /** Schema of the arguments: an object. */
  readonly input: Schema;
  /** Does the work. What it throws is told to the model as the result. */
  readonly run: (input: z.output<Schema>, context: ToolContext) => Output | Promise<Output>;
  /**
   * Whether it changes something outside this process. Its calls then run only if `AnswerOptions.approve` says so.
   * Default: false.
   */
  readonly writes?: boolean;
  /** Whether it returns `Findings`, whose hits become sources of the answer. Default: false. */
  readonly sources?: boolean;
  /** 1 to 3,600,000; default 60,000. */
  readonly timeoutMs?: number;
}

const toolOptions = z.strictObject({
  name: z.string().regex(/\S/, "must not be blank"),
  description: z.string(),
  input: z.custom<z.core.$ZodType>(
    (value) => typeof value === "object" && value !== null && "_zod" in value,
    "must be a zod schema",
  ),
  run: z.custom<(...given: never) => unknown>((value) => typeof value === "function", "must be a function"),
  writes: z.boolean().default(false),
  sources: z.boolean().default(false),
  timeoutMs: z.number().min(1).max(3_600_000).default(60_000),
});

/**
 * Declares a tool; the types of `run` follow from the schema.
 *
 * @throws OptionsError when an option is unknown or out of range, or the schema is not one of an object or has no JSON
 * Schema.
 * @example
 * ```ts
 * import { openKnowledgeBase, tool } from "citewell";
 * import { z } from "zod";
 * const stock = tool({
 *   name: "stock",
 *   description: "How many of an article are in stock.",
 *   input: z.object({ article: z.string() }),
 *   run: ({ article }) => (article === "lamp" ? 12 : 0),
 * });
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const events = kb.ask("Is the lamp in stock?", { answer: { tools: [stock] } });
 * ```
 */
export function tool<Schema extends z.core.$ZodType, Output>(
  options: ToolOptions<Schema, Output>,
): Tool<z.output<Schema>, Output> {
  const { name, description, writes, sources, timeoutMs } = resolve("tool", toolOptions, options);
  const { input, run } = options;
  return {
    name,
    description,
    input: input as z.core.$ZodType<z.output<Schema>>,
    run,
    writes,
    sources,
    timeoutMs,
    parameters: objectSchema(name, input),
  };
}

function objectSchema(name: string, input: z.core.$ZodType): JsonSchema {
  let schema: JsonSchema;
  try {
    schema = jsonSchemaOf(input);
  } catch (cause) {
    throw new OptionsError("options", `tool ${name}: its input has no JSON Schema: ${String(cause)}`, { cause });
  }
  if (schema["type"] !== "object") {
    throw new OptionsError("options", `tool ${name}: input must be a schema of an object, such as z.object({ … })`);
  }
  return schema;
}
