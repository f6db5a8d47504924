import { z } from "zod";
import { observerOption, optionsOf } from "../../core/options.js";

export interface McpServerOptions {
  /**
   * Subject of the documents, in a few words: models are told, so that they know when to search. 1 to 1,000 characters.
   * Default: nothing.
   */
  readonly about?: string;
  /**
   * Maximum characters of documents in one result of a tool, 1,000 to 1,000,000; of a longer document a model reads one part
   * after the other. A resource holds up to ten times as many. Default: 20,000.
   */
  readonly maxCharacters?: number;
  /** Called with errors that callers are not told of, or not in full. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

export const mcpServerOptions = optionsOf<McpServerOptions>()({
  about: z.string().min(1).max(1000).optional(),
  maxCharacters: z.int().min(1000).max(1_000_000).default(20_000),
  onError: observerOption<(error: unknown) => void>("onError").default(() => () => {}),
});

export type ResolvedMcpServerOptions = z.output<typeof mcpServerOptions>;
