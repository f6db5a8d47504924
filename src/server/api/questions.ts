import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import { choiceFields, chosenOptions } from "../choices.js";
import { imagesField, requireSeen } from "../question-images.js";
import { answerEvents } from "./answer-events.js";
import { consideredIn } from "./considered-passages.js";
import { type NumberedEvents, route } from "./route.js";
import { wirePassage } from "./to-wire.js";
import { type WireEvent, WireConsidered, WirePassage } from "./wire.js";

/** Long enough for a pasted letter; the model's own limit is checked when it is asked. */
const maxQuestionCharacters = 20_000;
const maxHistoryTurns = 200;

export const questionField = z
  .string()
  .regex(/\S/, "must not be blank")
  .max(maxQuestionCharacters)
  .meta({ examples: ["When do API keys expire?"] });

/** The knowledge base checks all filters. */
export const filterField = z
  .custom<Filter>(
    (value) => typeof value === "object" && value !== null,
    "must be an object, such as { uri: { in: [] } }",
  )
  .optional()
  .describe("Only documents that it lets through: conditions on uri, title, source, mediaType and metadata")
  .meta({ examples: [{ uri: { prefix: "file:///docs/" } }] });

const Turn = z.strictObject({ role: z.enum(["user", "assistant"]), text: z.string() });

export const questionRoutes = [
  route({
    method: "POST",
    path: "/api/search",
    operation: "search",
    summary: "Find passages, without an answer",
    request: z.strictObject({
      question: questionField,
      mode: z.enum(["hybrid", "dense", "lexical"]).optional(),
      limit: z.int().min(1).max(100).default(10),
      filter: filterField,
      correct: z.boolean().optional().describe("Whether words that are in no document are corrected. Default: true"),
    }),
    reply: z.object({
      passages: z.array(WirePassage),
      considered: z.array(WireConsidered),
      searchedFor: z
        .string()
        .optional()
        .describe("The question as it was searched for, where words of it are in no document and were corrected"),
    }),
    async serve({ question, mode, limit, filter, correct }, { documents, passages, request, audit }) {
      audit({ event: "search", text: question });
      const { signal } = request;
      const { hits, trace, searchedFor } = await documents.search(question, {
        count: limit,
        signal,
        ...given({ mode, filter, correct }),
      });
      const considered = await consideredIn(trace, passages);
      return { json: { passages: hits.map(wirePassage), considered, ...given({ searchedFor }) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/ask",
    operation: "ask",
    summary:
      "Answer one question, with the turns before it; nothing is kept, and the answer ends when its reader leaves",
    request: z.strictObject({
      question: questionField,
      history: z.array(Turn).max(maxHistoryTurns).default([]),
      filter: filterField,
      images: imagesField,
      ...choiceFields,
    }),
    reply: "events",
    serve({ question, history, filter, images, settings }, context) {
      const { documents, answers, choices, request, audit } = context;
      requireSeen(context.kb, images, "images");
      const ask = chosenOptions(context.ask, choices, settings);
      audit({ event: "question", text: question });
      // An answer that is not stored cannot be resumed.
      const { answer: { approve, ...answer } = {}, ...how } = ask;
      const signal = request.signal;
      const decided = approve === "later" ? {} : given({ approve });
      const events = documents.ask(
        { question, history, images },
        { ...how, answer: { ...answer, ...decided }, signal, ...given({ filter }) },
      );
      return { events: numbered(announced(admitted(answerEvents(events, context), answers.admit()))) };
    },
  }),
];

/**
 * Tells the reader that the question was taken, before the search keeps this thread or its queue waits. The event leaves within
 * one turn of the event loop, so that those of all who ask in the same moment do before the first of their searches begins.
 */
async function* announced(events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent> {
  yield { type: "searching" };
  await setImmediate();
  await setImmediate();
  yield* events;
}

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
