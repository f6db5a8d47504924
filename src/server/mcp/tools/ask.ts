import { z } from "zod";
import type { Answer, Citation } from "../../../core/types.js";
import { clockTime } from "../../../text/blocks/places.js";
import { place } from "./place.js";
import { filterInput } from "./search.js";
import { documentTool, type ToolCall } from "./tool.js";

const citation = z.object({
  number: z.number().describe("As it stands in the answer: [1]"),
  ...place,
  chunkId: z.string(),
  quote: z.string().describe("The document's own words; the claimed words when not supported"),
  supported: z.boolean().describe("Whether the document holds these words there: checked, not claimed"),
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
    answer: z.string(),
    answered: z.boolean().describe("False when the documents do not hold the answer"),
    citations: z.array(citation),
    warnings: z.array(z.string()).describe("What did less than it was asked to"),
  }),
  run: async ({ question, filter }, call) => {
    const { text, answered, citations, warnings } = await answerWithProgress(question, call, filter);
    return {
      text: [text, ...citations.map(describe), ...(answered ? [] : ["The documents do not hold the answer."])].join(
        "\n\n",
      ),
      structured: { answer: text, answered, citations: citations.map(asData), warnings: [...warnings] },
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

function asData(checked: Citation): z.output<typeof citation> {
  const { support: _, ...data } = checked;
  return data;
}

function describe({ number, uri, line, page, seconds, quote, supported }: Citation): string {
  const pageOrLine = page === undefined ? (line === undefined ? "" : `, line ${line}`) : `, page ${page}`;
  const where = seconds === undefined ? pageOrLine : `, at ${clockTime(seconds)}`;
  const check = supported ? "these words stand there" : "NOT SUPPORTED: these words do not stand there";
  return `[${number}] ${uri}${where}: ${JSON.stringify(quote)} (${check})`;
}
