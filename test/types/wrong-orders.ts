// Promises made by the types: `npm run types` fails when one of these mistakes compiles, or when a right order does not.
import { z } from "zod";
import {
  Pipeline,
  answer,
  chunk,
  collectAnswer,
  embedChunks,
  embedQuestion,
  mapStage,
  rerank,
  search,
  skipKnown,
  store,
  searchTool,
  tool,
  type Answer,
  type AnswerEvent,
  type AnyTool,
  type ChatModel,
  type Chunk,
  type Document,
  type DocumentChunk,
  type Embedded,
  type Embedder,
  type KnowledgeBase,
  type Question,
  type Reranker,
  type Retrieved,
  type Stage,
  type Store,
  type StoredDocument,
} from "citewell";

declare const embed: Embedder<"model-a">;
declare const otherEmbed: Embedder<"model-b">;
declare const kb: Store<"model-a">;
declare const ranker: Reranker;
declare const chat: ChatModel;

// The right orders, with the types that come out.
export const ingest: Pipeline<Document, StoredDocument> = Pipeline.from<Document>()
  .pipe(chunk({ for: embed }))
  .pipe(skipKnown(kb))
  .pipe(embedChunks(embed, { concurrency: 8 }))
  .pipe(store(kb));
export const ask: Pipeline<Question, AnswerEvent> = Pipeline.from<Question>()
  .pipe(embedQuestion(embed))
  .pipe(search(kb, { count: 40, mode: "hybrid" }))
  .pipe(rerank(ranker, { topN: 6 }))
  .pipe(answer(chat));
export const lexical: Pipeline<Question, Retrieved> = Pipeline.from<Question>().pipe(search(kb, { mode: "lexical" }));
export const nested: Stage<Document, StoredDocument> = ingest;

// @ts-expect-error chunks have no vector yet: pipe embedChunks() first
Pipeline.from<Document>().pipe(chunk()).pipe(store(kb));

// @ts-expect-error documents are not chunks: pipe chunk() first
Pipeline.from<Document>().pipe(embedChunks(embed));

// @ts-expect-error documents are not chunks: pipe chunk() first
Pipeline.from<Document>().pipe(skipKnown(kb));

// @ts-expect-error chunks are not documents: they were chunked already
Pipeline.from<Document>().pipe(chunk()).pipe(chunk());

// @ts-expect-error vectors of another model do not go into this store
Pipeline.from<Document>().pipe(chunk()).pipe(embedChunks(otherEmbed)).pipe(store(kb));

// @ts-expect-error a question embedded with one model cannot search a store of another
Pipeline.from<Question>().pipe(embedQuestion(otherEmbed)).pipe(search(kb));

// @ts-expect-error a hybrid search needs the question's vector: pipe embedQuestion() first
Pipeline.from<Question>().pipe(search(kb, { mode: "hybrid" }));

// @ts-expect-error the default mode is hybrid: it needs the vector too
Pipeline.from<Question>().pipe(search(kb));

// @ts-expect-error nothing was found yet: pipe search() first
Pipeline.from<Question>().pipe(embedQuestion(embed)).pipe(rerank(ranker));

// @ts-expect-error nothing was found yet: pipe search() first
Pipeline.from<Question>().pipe(answer(chat));

// @ts-expect-error an answer cannot be reranked
ask.pipe(rerank(ranker));

// @ts-expect-error documents are no questions
Pipeline.from<Document>().pipe(embedQuestion(embed));

// @ts-expect-error a question is not a document to be chunked
Pipeline.from<Question>().pipe(chunk());

// @ts-expect-error what runs over documents cannot be given questions
void ingest.stream([{ question: "?" }]);

// @ts-expect-error a chunk alone has lost its document, which the store needs
Pipeline.from<Embedded<Chunk, "model-a">>().pipe(store(kb));

// A stage of one's own keeps what it does not know of.
export const own: Pipeline<Document, StoredDocument> = Pipeline.from<Document>()
  .pipe(chunk({ for: embed }))
  .pipe(mapStage("mark", (item: DocumentChunk) => ({ ...item, marked: true })))
  .pipe(embedChunks(embed))
  .pipe(store(kb));

// @ts-expect-error an unknown option is refused where it is written
chunk({ for: embed, maxToken: 300 });

// @ts-expect-error no such mode
search(kb, { mode: "semantic" });

// Types of a tool follow from its schema, and tools of any type go into one list.
const weather = tool({
  name: "weather",
  description: "Weather of a city",
  input: z.object({ city: z.string(), days: z.int().default(1) }),
  run: ({ city, days }) => ({ city, high: days + 20 }),
});
const clock = tool({ name: "clock", description: "The time", input: z.object({}), run: () => "noon" });
export const tools: readonly AnyTool[] = [weather, clock];
export const high: Promise<number> | number = weather.run(
  { city: "Bern", days: 2 },
  { signal: AbortSignal.abort() },
) as never;

tool({
  name: "wrong",
  description: "",
  input: z.object({ city: z.string() }),
  // @ts-expect-error the schema has no such field
  run: ({ town }) => town,
});

// The end events are told apart by their type, and carry their own fields alone.
export function textOf(event: AnswerEvent): Answer | Error | string {
  if (event.type === "finish") return event.answer;
  if (event.type === "error") return event.error;
  if (event.type === "text-delta") return event.text;
  // @ts-expect-error only the finish event carries an answer
  return event.answer;
}

// With a schema, the answer's value has the schema's type from the stage to the end.
const period = z.object({ days: z.int(), since: z.iso.date().transform((text) => new Date(text)) });
declare const openKb: KnowledgeBase;
export const structured: Stage<Retrieved, AnswerEvent<{ days: number; since: Date }>> = answer(chat, {
  schema: period,
});
export const value: Promise<number | undefined> = collectAnswer(openKb.ask("?", { answer: { schema: period } })).then(
  (whole) => whole.value?.since.getTime(),
);

// @ts-expect-error the schema has no such field
void collectAnswer(openKb.ask("?", { answer: { schema: period } })).then((whole) => whole.value?.weeks);

// @ts-expect-error without a schema nothing is known of the value
void collectAnswer(openKb.ask("?")).then((whole) => whole.value?.days);

// @ts-expect-error the value may be missing: the sources may not hold the answer
void collectAnswer(openKb.ask("?", { answer: { schema: period } })).then((whole) => whole.value.days);

// The search as a tool is a tool like any other, of the whole knowledge base or of a part of it.
export const searches: readonly AnyTool[] = [searchTool(openKb), searchTool(openKb.scoped({ uri: "a" }))];
