import type { z } from "zod";
import type { ScopedKnowledgeBase } from "../../../knowledge-base/options.js";

/** What a call of a tool works with. */
export interface ToolCall {
  /** The documents that the caller may see. */
  readonly documents: ScopedKnowledgeBase;
  /** Maximum characters of documents in the result. */
  readonly maxCharacters: number;
  /** Ends when the caller cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Tells a caller that wants to know how far the call has come. */
  readonly progress: (message: string) => Promise<void>;
}

/** A tool as it is offered to models. None of them changes anything. */
export interface DocumentTool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** Tells a model when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: z.output<Input>, call: ToolCall) => Promise<ToolResult<z.output<Output>>>;
}

export interface ToolResult<Output = unknown> {
  /** For the model to read: text of documents stands in `<source>` elements. */
  readonly text: string;
  /** The same as data. */
  readonly structured: Output;
}

/** Types a tool by its schemas. */
export function documentTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: DocumentTool<Input, Output>,
): DocumentTool {
  return tool;
}
