import { z } from "zod";
import type { Filter } from "../filter.js";
import { resolve } from "../options.js";
import { type Findings, type Tool, tool } from "../tool.js";

export const SearchToolOptions = z.strictObject({
  /** What the model calls it. Default: `search_documents`. */
  name: z.string().min(1).default("search_documents"),
  /** When the model is to use it. Default: when the sources it was given do not hold the answer, or only a part of it. */
  description: z
    .string()
    .min(1)
    .default(
      "Searches the documents for further passages. Use it when the sources that you were given do not hold the answer, or " +
        "only a part of it: put what is missing in words that a passage on it would have. What it finds comes as further " +
        "numbered sources, to be cited like the others.",
    ),
  /** Most passages of one search, 1 to 100. Default: 6. */
  limit: z.int().min(1).max(100).default(6),
  /** Most time for one search, in milliseconds, 1 to 3,600,000. Default: 30,000. */
  timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
});
export type SearchToolOptions = z.input<typeof SearchToolOptions>;

/** What can be searched for passages: a knowledge base, or a part of one that `scoped` gave. */
export interface PassageSearch {
  readonly search: (
    query: string,
    call: { readonly limit: number; readonly signal: AbortSignal; readonly filter?: Filter },
  ) => Promise<Findings>;
}

/**
 * The search as a tool: a model that misses something looks for it itself. What it finds joins the numbered sources of
 * the answer, within the question's filter and scope, and citations of it are checked like any other. It is text of
 * others: tools that write are withheld from then on, unless approved.
 *
 * Other ways to search are one function away: `searchTool({ search: (query, call) => kb.search(query, { ...call, rerank: 40 }) })`.
 *
 * @throws OptionsError when an option is out of range.
 */
export function searchTool(
  documents: PassageSearch,
  options: SearchToolOptions = {},
): Tool<{ query: string }, Findings> {
  const { name, description, limit, timeoutMs } = resolve("searchTool", SearchToolOptions, options);
  return tool({
    name,
    description,
    input: z.object({
      query: z.string().trim().min(1).max(2000).describe("What to look for, as a question or in keywords"),
    }),
    run: ({ query }, context) => documents.search(query, { ...context, limit }),
    sources: true,
    timeoutMs,
  });
}
