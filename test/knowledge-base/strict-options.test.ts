import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { KnowledgeBase } from "../../src/knowledge-base/options.js";
import { Pipeline } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import type { Document } from "../../src/core/types.js";
import { chatModel } from "../../src/models/chat-model.js";
import { embedder } from "../../src/models/embedder.js";
import { reranker } from "../../src/models/reranker.js";
import { answer } from "../../src/stages/answering/answer.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { store } from "../../src/stages/indexing/store.js";
import { openStore } from "../../src/store/open-store.js";
import { createTransport } from "../../src/transport/transport.js";
import { streamed, transportFor } from "../support/transport-for.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Act = (kb: KnowledgeBase, options: never) => unknown;

const filter = { metadata: { tenant: "a" } };
const asking: Act = (kb, options) => collect(kb.ask("who?", options));

// Mistakes of a first hour. Each of them did nothing, and said nothing.
const mistakes: readonly (readonly [string, Act, object, string])[] = [
  [
    "search filters",
    (kb, options) => kb.search("who?", options),
    { filters: filter },
    '"filters"; did you mean "filter"?',
  ],
  [
    "more to answer from than are searched",
    asking,
    { topN: 50, count: 40 },
    "ask: topN is 50, but count, which they are chosen from, is 40. Set topN to 40 or less, or count to 50 or more",
  ],
  ["search topK", (kb, options) => kb.search("who?", options), { topK: 3 }, '"topK"; did you mean "count"?'],
  [
    "search limit",
    (kb, options) => kb.search("who?", options),
    { limit: 3 },
    '"limit"; did you mean "count", or "topN"',
  ],
  ["search k", (kb, options) => kb.search("who?", options), { k: 9 }, '"k"; did you mean "count", or fusion: { k: … }'],
  ["search rerank", (kb, options) => kb.search("who?", options), { rerank: 9 }, '"rerank"; did you mean "count", with'],
  ["search of a blank", (kb) => kb.search("  "), {}, "search: the question is blank"],
  ["ask filters", asking, { filters: filter }, '"filters"; did you mean "filter"?'],
  ["ask topK", asking, { topK: 3 }, '"topK"; did you mean "topN"?'],
  ["ask abortSignal", asking, { abortSignal: AbortSignal.abort() }, '"abortSignal"; did you mean "signal"?'],
  ["ask of a blank", (kb) => collect(kb.ask("")), {}, "ask: the question is blank"],
  ["ask of nothing", (kb, options) => collect(kb.ask(options)), {}, "ask: question: "],
  [
    "a question with filters",
    (kb, options) => collect(kb.ask(options)),
    { question: "who?", filters: filter },
    '"filters"; did you mean "filter"?',
  ],
  [
    "turns of another library",
    (kb, options) => collect(kb.ask(options)),
    { question: "who?", history: [{ role: "user", content: "hello" }] },
    'there is no option "history.0.content"; did you mean "text"?',
  ],
  ["answer options", asking, { answer: { tool: [] } }, 'ask: there is no option "answer.tool"; did you mean "tools"?'],
  ["tools beside the answer's options", asking, { tools: [] }, 'no option "tools"; did you mean answer: { tools: … }?'],
  [
    "a filter by a field of metadata alone",
    (kb, options) => kb.scoped(options),
    { tenant: "a" },
    'filter: there is no option "tenant"; did you mean metadata: { tenant: … }?',
  ],
  [
    "conversation by its id alone",
    (kb, options) => kb.conversation(options),
    "abc" as never,
    'conversation: must be an object: { id, owner } (got "abc")',
  ],
  [
    "conversation with a user",
    (kb, options) => kb.conversation(options),
    { id: "a", user: "u" },
    '"user"; there are: id, owner',
  ],
  ["conversations of a user", (kb, options) => kb.conversations(options), { user: "u" }, '"user"; there are: owner'],
];

test.each(mistakes)("%s: one line names the mistake and the way out", async (_, act, options, message) => {
  const { transport, upstream } = await transportFor(() => streamed("nothing"));
  const models = { embedding: "test/embed-m3", chat: "test/chat" };
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport, models });
  onTestFinished(() => kb.close());
  const run = async () => act(kb, options as never);
  await expect(run()).rejects.toMatchObject({
    name: "OptionsError",
    message: expect.stringContaining(message) as string,
  });
  expect(upstream.requests).toEqual([]);
});

const words = { name: "words", count: (text: string) => text.split(/\s+/).length };
/** An embedder as somebody may write it without types. */
const untyped = (embed: (texts: readonly string[]) => unknown) => ({
  space: "own",
  dimension: 4,
  maxInputTokens: 512,
  maxBatchTexts: 8,
  tokens: words,
  embed: async (texts: readonly string[]) => embed(texts),
});
const good = untyped((texts) => ({ vectors: texts.map(() => Float32Array.of(1, 0, 0, 0)), tokens: 1 }));

const constructions: readonly (readonly [string, object, string])[] = [
  [
    "a transport's options",
    { transport: { baseUrl: "http://x", apiKey: "k" } },
    "transport: must be made by createTransport(",
  ],
  ["half an embedder", { embedder: { embed: () => [] } }, "embedder: must be an embedder: { space, maxInputTokens"],
  ["a store's path", { store: "./store" }, "store: must be a store, as openStore() returns it"],
  ["a model's name for a chat model", { chatModel: "gpt" }, "chatModel: must be a chat model: { model"],
];

test.each(constructions)(
  "a knowledge base is not opened with %s in the place of a port",
  async (_, options, message) => {
    const path = join(await temporaryFolder(), "store");
    await expect(openKnowledgeBase({ path, ...options })).rejects.toMatchObject({
      name: "OptionsError",
      message: expect.stringContaining(message) as string,
    });
  },
);

test("a path that is a file is refused by its name", async () => {
  const path = join(await temporaryFolder({ "notes.txt": "x" }), "notes.txt");
  await expect(openKnowledgeBase({ path })).rejects.toMatchObject({
    name: "OptionsError",
    message: expect.stringContaining(`${path} is a file. A store is a folder`) as string,
  });
});

test.each([
  ["bare vectors", () => [Float32Array.of(1, 0, 0, 0)], "The embedder own must return { vectors, tokens }"],
  ["vectors as lists", () => ({ vectors: [[1, 0, 0, 0]], tokens: 1 }), "Convert it with Float32Array.from()"],
  [
    "vectors of another length than it says",
    () => ({ vectors: [Float32Array.of(1, 0)], tokens: 1 }),
    "The embedder own says that its dimension is 4, and returned a vector of 2",
  ],
])("an embedder that returns %s is told so", async (_, embed, message) => {
  const kb = await openKnowledgeBase({
    path: join(await temporaryFolder(), "store"),
    embedder: untyped(embed) as never,
  });
  onTestFinished(() => kb.close());
  const ended = await kb.ingest([{ uri: "a", text: "hello there" }]).then(
    ({ failures }) => failures.map(({ error }) => error).join(),
    (error: unknown) => String(error),
  );
  expect(ended).toContain(message);
});

test("chunks that are stored before they are embedded are refused with the order to put the stages in", async () => {
  const kb = await openStore(join(await temporaryFolder(), "store"), good);
  onTestFinished(() => kb.close());
  const pipeline = Pipeline.from<Document>()
    .pipe(chunk())
    .pipe(store(kb) as never);
  await expect(collect(pipeline.stream([{ uri: "a", text: "hello there" }]))).rejects.toThrow(
    "Put embedChunks() before store()",
  );
});

test.each([
  ["as an object", { weather: { description: "x", inputSchema: {}, execute: () => 1 } }],
  ["as plain objects", [{ description: "x", inputSchema: {}, execute: () => 1 }]],
])("tools of another library, %s, are refused with the call that makes one", (_, tools) => {
  const model = { model: "m", maxMessages: 10 } as never;
  expect(() => answer(model, { tools: tools as never })).toThrow(
    /must be made by tool\(\{ name, description, input, run \}\)/,
  );
});

test("a model over a transport's options, in place of the transport, is refused with the call that makes one", () => {
  const options = { baseUrl: "http://x", apiKey: "k" } as never;
  for (const make of [embedder, chatModel, reranker]) {
    expect(() => make(options, { model: "m" })).toThrow(
      "the transport must be made by createTransport({ baseUrl, apiKey })",
    );
  }
});

test("a misspelt baseUrl is named beside what is missing", () => {
  expect(() => createTransport({ baseURL: "http://x", apiKey: "k" } as never)).toThrow(
    'there is no option "baseURL"; did you mean "baseUrl"?',
  );
});
