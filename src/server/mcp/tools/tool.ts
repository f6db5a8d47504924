import type { z } from "zod";
import type { ScopedKnowledgeBase } from "../../../knowledge-base/options.js";

/** Context of a tool call. */
export interface ToolCall {
  /** The documents that the caller may see. */
  readonly documents: ScopedKnowledgeBase;
  /** Maximum characters of documents in the result. */
  readonly maxCharacters: number;
  /** Ends when the caller cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Reports progress to a caller that asked for it. */
  readonly progress: (message: string) => Promise<void>;
}

/** A tool as it is offered to models. None of them changes anything. */
export interface DocumentTool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** Description by which a model decides when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: z.output<Input>, call: ToolCall) => Promise<ToolResult<z.output<Output>>>;
}

export interface ToolResult<Output = unknown> {
  /** Text for the model, with text of documents in `<source>` elements. */
  readonly text: string;
  /** Result as data. */
  readonly structured: Output;
}

/** Types a tool by its schemas. */
export function documentTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: DocumentTool<Input, Output>,
): DocumentTool {
  return tool;
}
