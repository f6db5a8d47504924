import { z } from "zod";
import { given } from "../../../core/given.js";
import type { Answer, Citation, Hit, NearestPassages } from "../../../core/types.js";
import { clockTime } from "../../../text/blocks/places.js";
import { place } from "./place.js";
import { filterInput, searchedFor } from "./search.js";
import { documentTool, type ToolCall } from "./tool.js";

const citation = z.object({
  number: z.number().describe("As it stands in the answer: [1]"),
  ...place,
  chunkId: z.string(),
  quote: z.string().describe("The document's own words; the claimed words when not supported"),
  supported: z.boolean().describe("Whether the document holds these words there: checked, not claimed"),
  struckOut: z.boolean().optional().describe("True when the words stand there, but are struck out"),
  sentence: z
    .object({ start: z.number(), end: z.number(), text: z.string() })
    .optional()
    .describe("The whole sentences of the document around the words: read what the quote leaves out"),
});

export const askTool = documentTool({
  name: "ask",
  title: "Ask the documents",
  description:
    "Answers a question from the user's documents alone, with numbered citations. Every citation was compared with the " +
    "stored text: one that is not supported is no evidence. Use it for a question that the documents answer as a whole; " +
    "use search to read and judge passages yourself. It asks a language model, and takes seconds.",
  input: z.strictObject({
    question: z.string().trim().min(1).max(4000).describe("A question that can be understood by itself"),
    filter: filterInput,
  }),
  output: z.object({
    searchedFor,
    answer: z.string(),
    answered: z.boolean().describe("False when the documents do not hold the answer"),
    citations: z.array(citation),
    nearest: z
      .object({
        passages: z.array(z.object({ ...place, chunkId: z.string(), text: z.string() })),
        headings: z.array(z.string()),
      })
      .optional()
      .describe("What is nearest to a question that the documents do not answer; no answer to it"),
    warnings: z.array(z.string()).describe("What did less than it was asked to"),
  }),
  run: async ({ question, filter }, call) => {
    const found = await answerWithProgress(question, call, filter);
    const { text, answered, nearest, citations, warnings, searchedFor: corrected } = found;
    const correction = corrected === undefined ? [] : [`Searched for: ${corrected}`];
    const declined = answered
      ? []
      : ["The documents do not hold the answer.", ...(nearest ? describeNearest(nearest) : [])];
    return {
      text: [...correction, text, ...citations.map(describe), ...declined].join("\n\n"),
      structured: {
        ...given({ searchedFor: corrected }),
        answer: text,
        answered,
        citations: citations.map(asData),
        ...(nearest && { nearest: { passages: nearest.hits.map(passageAsData), headings: [...nearest.headings] } }),
        warnings: [...warnings],
      },
    };
  },
});

/** Characters of the answer, or of the model's thinking, between two reports. */
const reportedCharacters = 200;

async function answerWithProgress(
  question: string,
  { documents, signal, progress }: ToolCall,
  filter: z.output<typeof filterInput>,
): Promise<Answer> {
  let unreported = "";
  for await (const event of documents.ask(question, { signal, ...(filter !== undefined && { filter }) })) {
    if (event.type === "finish") return event.answer;
    if (event.type === "error") throw event.error;
    if (event.type === "retrieved") await progress(`Reading ${event.hits.length} passages`);
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") continue;
    unreported += event.text;
    if (unreported.length < reportedCharacters) continue;
    await progress(event.type === "text-delta" ? unreported : "Thinking");
    unreported = "";
  }
  throw new Error("The answer ended without an end event");
}

function passageAsData({ chunk, uri, title, line, page, seconds }: Hit) {
  return {
    uri,
    ...given({ title, line, page, seconds }),
    start: chunk.start,
    end: chunk.end,
    chunkId: chunk.id,
    text: chunk.text,
  };
}

function describeNearest({ hits, headings }: NearestPassages): readonly string[] {
  const passages = hits.map(
    ({ uri, line, chunk }) => `${uri}${line === undefined ? "" : `, line ${line}`}: ${chunk.text.trim()}`,
  );
  return [
    `Nearest passages, which do not answer it:\n\n${passages.join("\n\n")}`,
    ...(headings.length > 0 ? [`What can be asked about: ${headings.join("; ")}`] : []),
  ];
}

function asData(checked: Citation): z.output<typeof citation> {
  const { support: _, ...data } = checked;
  return data;
}

function describe({ number, uri, line, page, seconds, quote, supported, struckOut, sentence }: Citation): string {
  const pageOrLine = page === undefined ? (line === undefined ? "" : `, line ${line}`) : `, page ${page}`;
  const where = seconds === undefined ? pageOrLine : `, at ${clockTime(seconds)}`;
  const check = supported
    ? "these words stand there"
    : `NOT SUPPORTED: these words ${struckOut ? "are struck out" : "do not stand"} there`;
  const around = sentence && sentence.text !== quote ? ` The document: ${JSON.stringify(sentence.text)}` : "";
  return `[${number}] ${uri}${where}: ${JSON.stringify(quote)} (${check})${around}`;
}
