import { z } from "zod";
import { isChinese } from "../../text/words/chinese.js";
import { suggestedQuestions } from "../../text/words/suggested-questions.js";
import { route } from "./route.js";

/** Documents that are read for suggestions, spread over all: some milliseconds each. */
const maxDocuments = 48;

/** Longer documents would be read whole for a heading. */
const maxChunks = 100;

const maxQuestions = 6;

export const suggestionRoutes = [
  route({
    method: "POST",
    path: "/api/suggestions",
    operation: "suggestQuestions",
    summary: "Questions to begin with, from headings of the documents, at most one of each document",
    request: z.strictObject({
      uris: z.array(z.string()).min(1).max(10_000).optional().describe("Only of these documents. Default: of all"),
      language: z
        .enum(["en", "zh"])
        .default("en")
        .describe("Questions in this language come first")
        .meta({ examples: ["en"] }),
    }),
    reply: z.object({ questions: z.array(z.object({ question: z.string(), uri: z.string() })) }),
    async serve({ uris, language }, { documents, request }) {
      const among = uris && new Set(uris);
      const readable = ({ uri, chunks }: { readonly uri: string; readonly chunks: number }) =>
        chunks > 0 && chunks <= maxChunks && (among === undefined || among.has(uri));
      const all = (await documents.documents()).filter(readable);
      const step = Math.ceil(all.length / maxDocuments);
      const wanted: { question: string; uri: string }[] = [];
      const others: { question: string; uri: string }[] = [];
      for (const { uri } of all.filter((_, index) => index % step === 0)) {
        request.signal.throwIfAborted();
        const document = await documents.document(uri);
        const asked = new Set([...wanted, ...others].map(({ question }) => question));
        const question = document && suggestedQuestions(document).find((each) => !asked.has(each));
        if (question === undefined) continue;
        (isChinese(question) === (language === "zh") ? wanted : others).push({ question, uri });
        if (wanted.length === maxQuestions) break;
      }
      return { json: { questions: [...wanted, ...others].slice(0, maxQuestions) } };
    },
  }),
];
