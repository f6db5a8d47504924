import type { z } from "zod";
import { resolve } from "../../core/options.js";
import {
  type PassageSearch,
  searchTool,
  type SearchToolOptions,
  searchToolOptions,
} from "../../stages/answering/search-tool.js";
import { type Passage, passageOf } from "../passage.js";

export type KnowledgeBaseToolOptions = Omit<SearchToolOptions, "name">;

/** A tool as `generateText` and `streamText` take it in `tools`. */
export interface KnowledgeBaseTool {
  /** Tells the model when to use it. */
  readonly description: string;
  /** Schema of the arguments. */
  readonly inputSchema: z.core.$ZodType<SearchInput>;
  /** Searches; what it throws is told to the model as the result. */
  readonly execute: (
    input: SearchInput,
    call: ToolExecution,
  ) => Promise<{
    /** Passages found, best first. */
    readonly passages: readonly Passage[];
  }>;
}

interface SearchInput {
  /** Search query of the model, a question or keywords. */
  readonly query: string;
}

/** The fields we read of the call options that the AI SDK gives a tool. */
interface ToolExecution {
  /** Aborts the search. */
  readonly abortSignal?: AbortSignal | undefined;
}

const description =
  "Searches the documents and returns passages with the addresses of their documents, best first. Put what you look for in " +
  "words that a passage on it would have. Name the addresses of the passages that you answer from.";

/**
 * The knowledge base, or what `scoped` returned of it, as a tool of the AI SDK: `tools: { search: knowledgeBaseTool(kb) }`.
 * Passages are text from outside, which the model should not take orders from.
 *
 * @throws OptionsError when an option is unknown or out of range.
 * @example
 * ```ts
 * import { generateText, type LanguageModel } from "ai";
 * import { openKnowledgeBase } from "citewell";
 * import { knowledgeBaseTool } from "citewell/ai-sdk";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * export const ask = (model: LanguageModel, prompt: string) =>
 *   generateText({ model, prompt, tools: { search: knowledgeBaseTool(kb, { count: 4 }) } });
 * ```
 */
export function knowledgeBaseTool(documents: PassageSearch, options: KnowledgeBaseToolOptions = {}): KnowledgeBaseTool {
  const settings = resolve("knowledgeBaseTool", searchToolOptions.omit({ name: true }), options);
  const tool = searchTool(documents, { ...settings, description: options.description ?? description });
  return {
    description: tool.description,
    inputSchema: tool.input,
    execute: async (input, { abortSignal }) => {
      const inTime = AbortSignal.timeout(tool.timeoutMs);
      const signal = abortSignal ? AbortSignal.any([abortSignal, inTime]) : inTime;
      const { hits } = await tool.run(input, { signal });
      return { passages: hits.map(passageOf) };
    },
  };
}
