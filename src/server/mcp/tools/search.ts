import { z } from "zod";
import { given } from "../../../core/given.js";
import type { Filter } from "../../../core/filter.js";
import { place } from "./place.js";
import { documentTool } from "./tool.js";
import { sourceElement, untrusted } from "./source-element.js";

/** The search itself checks the filter, and names what is wrong with it. */
export const filterInput = z
  .unknown()
  .optional()
  .transform((filter) => filter as Filter | undefined)
  .meta({
    type: "object",
    description:
      'Only documents that meet all of these conditions, such as { "uri": { "prefix": "file:///docs/guides/" } } or ' +
      '{ "metadata": { "product": "auth", "year": { "gte": 2024 } } }. Fields: uri, title, source, mediaType, metadata; also all, ' +
      "any and not. A condition is a value, or one of in, gt, gte, lt, lte, prefix, exists. Leave it out unless you know the field",
  });

const passage = z.object({
  ...place,
  chunkId: z.string(),
  score: z.number().describe("Higher is better; scores of two searches do not compare"),
  context: z.string().optional().describe("The title and headings above the passage"),
  text: z.string(),
});

export const searchedFor = z
  .string()
  .optional()
  .describe("What was searched for instead, where words are in no document and were corrected");

export const searchTool = documentTool({
  name: "search",
  title: "Search the documents",
  description:
    "Finds passages in the user's documents, best first, each with its address and place. Use it first for anything that " +
    "the documents may hold, before answering from memory; search again in other words when nothing fits. read_source " +
    "shows more of a document around a passage.",
  input: z.strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(2000)
      .describe('A question or keywords. "exact phrase" must occur, -word must not'),
    limit: z.int().min(1).max(50).default(10).describe("Maximum number of passages"),
    mode: z
      .enum(["hybrid", "dense", "lexical"])
      .default("hybrid")
      .describe(
        "hybrid: by meaning and by words. lexical: by words alone, for names and codes. dense: by meaning alone",
      ),
    filter: filterInput,
    correct: z
      .boolean()
      .default(true)
      .describe("False: words that no document has are not replaced by words that are spelt like them"),
  }),
  output: z.object({
    searchedFor,
    passages: z.array(passage),
    leftOut: z.number().describe("Passages that were found too, and had no room in the result"),
  }),
  run: async ({ query, limit, mode, filter, correct }, { documents, maxCharacters, signal }) => {
    const found = await documents.search(query, { count: limit, mode, correct, signal, ...given({ filter }) });
    const { hits, searchedFor: corrected } = found;
    const passages: z.output<typeof passage>[] = [];
    let room = maxCharacters;
    for (const { chunk, uri, title, line, page, seconds, score } of hits) {
      if (chunk.text.length > room && passages.length > 0) break;
      const text = chunk.text.slice(0, room);
      room -= text.length;
      const { id: chunkId, start, context } = chunk;
      const end = start + text.length;
      passages.push({
        uri,
        title,
        line,
        page,
        seconds,
        start,
        end,
        chunkId,
        score,
        context: context || undefined,
        text,
      });
    }
    const leftOut = hits.length - passages.length;
    const correction = corrected === undefined ? [] : [`Searched for: ${corrected}`];
    return {
      text: [...correction, describe(passages, leftOut)].join("\n\n"),
      structured: { ...given({ searchedFor: corrected }), passages, leftOut },
    };
  },
});

function describe(passages: readonly z.output<typeof passage>[], leftOut: number): string {
  if (passages.length === 0) return "Nothing was found. Try other words, or fewer conditions.";
  const elements = passages.map(({ uri, title, line, page, seconds, start, end, context, text }, index) =>
    sourceElement({ number: index + 1, uri, title, line, page, seconds, start, end, context }, text),
  );
  const more = leftOut === 0 ? [] : [`${leftOut} more had no room here. Ask for fewer, or in a narrower way.`];
  return [untrusted, ...elements, ...more].join("\n\n");
}
