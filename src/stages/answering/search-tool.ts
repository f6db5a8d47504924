import { checkStorePart } from "../../core/check-port.js";
import { z } from "zod";
import type { Filter } from "../../core/filter.js";
import { optionsOf, renamed, resolve } from "../../core/options.js";
import { type Findings, type Tool, tool } from "../../core/tool.js";

export interface SearchToolOptions {
  /** The tool's name for the model. Default: `search_documents`. */
  readonly name?: string;
  /** Tells the model when to use it. Default: when the given sources hold only a part of the answer, or none. */
  readonly description?: string;
  /** Maximum passages per search, 1 to 100. Default: 6. */
  readonly count?: number;
  /** Maximum time per search, in milliseconds, 1 to 3,600,000. Default: 30,000. */
  readonly timeoutMs?: number;
}

export const searchToolOptions = renamed(
  optionsOf<SearchToolOptions>()({
    name: z.string().min(1).default("search_documents"),
    description: z
      .string()
      .min(1)
      .default(
        "Searches the documents for further passages. Use it when the sources that you were given do not hold the answer, or " +
          "only a part of it: put what is missing in words that a passage on it would have. What it finds comes as further " +
          "numbered sources, to be cited like the others.",
      ),
    count: z.int().min(1).max(100).default(6),
    timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
  }),
  { limit: '"count"' },
);

/** Anything that can be searched for passages: a knowledge base, or a part of one that `scoped` returned. */
export interface PassageSearch {
  /** Passages for a query, best first. */
  readonly search: (
    query: string,
    call: {
      /** Maximum number of passages. */
      readonly count: number;
      /** Aborted with the answer, or when the tool's time is up. */
      readonly signal: AbortSignal;
      /** Filter of the question. Nothing else may be found. */
      readonly filter?: Filter;
    },
  ) => Promise<Findings>;
}

/**
 * Offers the search to the model as a tool, so that it can look for missing information. The passages it finds, within the
 * question's filter and scope, join the numbered sources of the answer, and citations of them are checked like any
 * other. They are untrusted text, and the approver of a later call of a tool that writes is told so.
 *
 * To search in another way, pass a function: `searchTool({ search: (query, call) => kb.search(query, { ...call, count: 40, topN: call.count }) })`.
 *
 * @throws OptionsError when an option is out of range.
 * @example
 * ```ts
 * import { openKnowledgeBase, searchTool } from "citewell";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const tools = [searchTool(kb)];
 * for await (const event of kb.ask("Who renews expired keys?", { answer: { tools } })) console.log(event.type);
 * ```
 */
export function searchTool(
  documents: PassageSearch,
  options: SearchToolOptions = {},
): Tool<
  {
    /** Text that the model looks for, as a question or in keywords. */
    query: string;
  },
  Findings
> {
  const { name, description, count, timeoutMs } = resolve("searchTool", searchToolOptions, options);
  checkStorePart("searchTool", documents, ["search"]);
  return tool({
    name,
    description,
    input: z.object({
      query: z.string().trim().min(1).max(2000).describe("What to look for, as a question or in keywords"),
    }),
    run: ({ query }, context) => documents.search(query, { ...context, count }),
    sources: true,
    timeoutMs,
  });
}
