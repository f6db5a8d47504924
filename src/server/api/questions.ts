import { z } from "zod";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import { answerEvents } from "./answer-events.js";
import { consideredIn } from "./considered.js";
import { type NumberedEvents, route } from "./route.js";
import { wirePassage } from "./to-wire.js";
import { type WireEvent, WireConsidered, WirePassage } from "./wire.js";

/** Long enough for a pasted letter; what a model can take is checked when it is asked. */
const maxQuestionCharacters = 20_000;
const maxHistoryTurns = 200;

export const questionField = z.string().regex(/\S/, "must not be blank").max(maxQuestionCharacters);

/** The knowledge base checks filters, wherever they come from. */
export const filterField = z
  .custom<Filter>(
    (value) => typeof value === "object" && value !== null,
    "must be an object, such as { uri: { in: [] } }",
  )
  .optional()
  .describe("Only documents that it lets through: conditions on uri, title, source, mediaType and metadata");

const Turn = z.strictObject({ role: z.enum(["user", "assistant"]), text: z.string() });

export const questionRoutes = [
  route({
    method: "POST",
    path: "/api/search",
    summary: "Find passages, without an answer",
    request: z.strictObject({
      question: questionField,
      mode: z.enum(["hybrid", "dense", "lexical"]).optional(),
      limit: z.int().min(1).max(100).default(10),
      filter: filterField,
    }),
    reply: z.object({ passages: z.array(WirePassage), considered: z.array(WireConsidered) }),
    async serve({ question, mode, limit, filter }, { documents, passages, request }) {
      const { signal } = request;
      const { hits, trace } = await documents.search(question, { limit, signal, ...given({ mode, filter }) });
      return { json: { passages: hits.map(wirePassage), considered: await consideredIn(trace, passages) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/ask",
    summary:
      "Answer one question, with the turns before it; nothing is kept, and the answer ends when its reader leaves",
    request: z.strictObject({
      question: questionField,
      history: z.array(Turn).max(maxHistoryTurns).default([]),
      filter: filterField,
    }),
    reply: "events",
    serve({ question, history, filter }, context) {
      const { documents, ask, answers, request } = context;
      // Nobody could resume an answer that is kept nowhere.
      const { answer: { approve, ...answer } = {}, ...how } = ask;
      const signal = request.signal;
      const decided = approve === "later" ? {} : given({ approve });
      const events = documents.ask(
        { question, history },
        { ...how, answer: { ...answer, ...decided }, signal, ...given({ filter }) },
      );
      return { events: numbered(admitted(answerEvents(events, context), answers.admit())) };
    },
  }),
];

/** Releases a place among the running answers at the end. */
async function* admitted(events: AsyncIterable<WireEvent>, release: () => void): AsyncGenerator<WireEvent> {
  try {
    yield* events;
  } finally {
    release();
  }
}

async function* numbered(events: AsyncIterable<WireEvent>): NumberedEvents & AsyncGenerator {
  let number = 0;
  for await (const event of events) yield [number++, event] as const;
}
