import { expect, test } from "vitest";
import type { ChatEvent, ChatModel, Embedder, Found, Retriever, TextRecognizer } from "../../src/core/ports.js";
import { mapStage, Pipeline, stage } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import type { AnswerEvent, Document, Question } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { loadPicture } from "../../src/load/formats/recognition/pictures.js";
import { answer, collectAnswer } from "../../src/stages/answering/answer.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { embedQuestion } from "../../src/stages/questions/embed-question.js";
import { multiQuery } from "../../src/stages/questions/query-variants.js";
import { fused } from "../../src/stages/retrieval/fused.js";
import { rerank } from "../../src/stages/retrieval/rerank.js";
import { search } from "../../src/stages/retrieval/search.js";
import { widen } from "../../src/stages/retrieval/widen.js";
import { openStore } from "../../src/store/open-store.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { memoryStore } from "../support/memory-store.js";
import { png } from "../support/tiny-media.js";
import { wordEmbedder } from "../support/word-embedder.js";
import { eventsOf, finish, hit, retrieved, say, scriptedModel } from "./answering/scripted-model.js";

const keys = hit("A key lasts 90 days.");

/** A chat model whose reply is made of anything. */
function yielding(...events: readonly unknown[]): ChatModel {
  return scriptedModel([events as readonly ChatEvent[]]);
}

const done = finish();
const kinds = "text-delta, reasoning-delta, tool-call, finish";

test.each<[string, readonly unknown[]]>([
  ['yielded "Keys last", not an event: { type: "text-delta", text }', ["Keys last", " 90 days."]],
  ["yielded null, not an event", [null]],
  ["yielded a list of 1, not an event", [[say("Hm.")], done]],
  [`yielded an event of the type "text"; there are: ${kinds}`, [{ type: "text", text: "Keys last" }, done]],
  [`yielded an event of the type undefined; there are: ${kinds}`, [{ delta: "Keys" }, done]],
  ["yielded a text-delta event whose text is undefined, not a text", [{ type: "text-delta", delta: "Keys" }, done]],
  ["yielded a reasoning-delta event whose text is 7, not a text", [{ type: "reasoning-delta", text: 7 }, done]],
  [
    "yielded a tool-call event whose arguments is an object, not a text",
    [{ type: "tool-call", id: "1", name: "stock", arguments: { article: "lamp" } }, done],
  ],
  ["yielded a finish event whose model is undefined, not a text", [say("Hm."), { type: "finish", reason: "stop" }]],
  [
    'yielded a finish event whose reason is "end_turn"; there are: stop, length, tool-calls, content-filter, other',
    [say("Hm."), { type: "finish", reason: "end_turn", model: "m" }],
  ],
  [
    'yielded a finish event whose reason is "toString"; there are: stop, length',
    [say("Hm."), { type: "finish", reason: "toString", model: "m" }],
  ],
  [
    "yielded a finish event whose refusal is 7, not a text",
    [say("Hm."), { type: "finish", reason: "stop", model: "m", refusal: 7 }],
  ],
  [
    "yielded a finish event whose usage is not { inputTokens, outputTokens } of numbers (got undefined)",
    [say("Hm."), { type: "finish", reason: "stop", model: "m", usage: { input_tokens: 1, output_tokens: 2 } }],
  ],
])("a chat model is told that it %s", async (problem, events) => {
  const last = (await eventsOf(answer(yielding(...events)), retrieved([keys]))).at(-1);
  const error = last?.type === "error" ? last.error : undefined;
  expect(error).toMatchObject({ name: "OptionsError", code: "options" });
  expect(error!.message).toContain(`chatModel.stream of scripted ${problem}`);
});

test.each<[string, () => unknown]>([
  ["a promise", async () => ({ text: "Keys last" })],
  ["undefined", () => undefined],
  ["a list of 1", () => [done]],
  ['"Keys last"', () => "Keys last"],
])("a chat model whose stream returns %s is told so, also by a step before the search", async (got, stream) => {
  const model = { ...scriptedModel([]), stream } as unknown as ChatModel;
  const message = `chatModel.stream of scripted must return a stream of events, such as an async generator does (got ${got})`;
  const last = (await eventsOf(answer(model), retrieved([keys]))).at(-1);
  expect(last).toMatchObject({ type: "error", error: { message } });
  const wording = Pipeline.from<Question>().pipe(multiQuery(model));
  await expect(collect(wording.stream([{ question: "How long does a key last?" }]))).rejects.toThrow(message);
});

/** Any object as a port of any type, as a program without types passes it. */
function port<Port extends object>(value: Partial<Port> | object): Port {
  return value as Port;
}

test.each<[string, () => unknown]>([
  [
    "embedQuestion: embedder.maxBatchTexts must be a number of 1 or more (got undefined)",
    () => embedQuestion(port<Embedder>({ ...wordEmbedder(), maxBatchTexts: undefined })),
  ],
  [
    "embedQuestion: embedder.space must be a text (got 7)",
    () => embedQuestion(port<Embedder>({ ...wordEmbedder(), space: 7 })),
  ],
  [
    "embedQuestion: embedder.dimension must be a number of 1 or more (got NaN)",
    () => embedQuestion({ ...wordEmbedder(), dimension: Number.NaN }),
  ],
  [
    'embedQuestion: embedder.tokens must be a token counter: { name, count } (got "cl100k_base")',
    () => embedQuestion(port<Embedder>({ ...wordEmbedder(), tokens: "cl100k_base" })),
  ],
  [
    'embedQuestion: embedder.tokens must count: count("word") returned NaN, not a number of 0 or more (got an object)',
    () => embedQuestion({ ...wordEmbedder(), tokens: { name: "own", count: () => Number.NaN } }),
  ],
  [
    "answer: chatModel.contextTokens must be a number of 1 or more (got undefined)",
    () => answer(port<ChatModel>({ ...scriptedModel([]), contextTokens: undefined })),
  ],
  [
    'answer: chatModel.tokens must count: count("word") returned a promise, not a number of 0 or more (got an object)',
    () => answer(port<ChatModel>({ ...scriptedModel([]), tokens: { name: "own", count: async () => 3 } })),
  ],
  ["rerank: reranker.model must be a text (got undefined)", () => rerank({ rerank: async () => ({}) } as never)],
  [
    'chunk: for.tokens must count: count("word") returned -1, not a number of 0 or more',
    () => chunk({ for: { maxInputTokens: 512, tokens: { name: "own", count: () => -1 } } }),
  ],
  [
    'widen: tokens must count: count("word") returned "4", not a number of 0 or more',
    () => widen(memoryStore("words"), { tokens: { name: "own", count: () => "4" as never } }),
  ],
  [
    "search: store.lexical: must be a retriever: { name, retrieve } (got undefined)",
    () => search({ ...memoryStore("words"), lexical: undefined as never }),
  ],
  [
    "fused: retrievers[1]: must be a retriever: { name, retrieve } (got object)",
    () => fused([memoryStore("w").dense, port({})]),
  ],
  [
    "pipe: must be a stage: { name, run }, such as chunk() or mapStage(name, transform) (got a function)",
    () => Pipeline.from<Document>().pipe(chunk as never),
  ],
  [
    "pipe: must be a stage: { name, run }, such as chunk() or mapStage(name, transform) (got undefined)",
    () => Pipeline.from<Document>().pipe(undefined as never),
  ],
  [
    "pipe: must be a stage: { name, run }, such as chunk() or mapStage(name, transform) (got a promise)",
    () => Pipeline.from<Document>().pipe(Promise.resolve(chunk()) as never),
  ],
  [
    "pipe: must be a stage: { name, run }, such as chunk() or mapStage(name, transform) (got an object)",
    () => Pipeline.from<Document>().pipe(memoryStore("words") as never),
  ],
  ["mapStage: transform of upper must be a function (got undefined)", () => mapStage("upper", undefined as never)],
])("%s", (message, act) => {
  let thrown: unknown;
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ name: "OptionsError" });
  expect((thrown as Error).message).toContain(message);
});

test("a stage whose run returns no stream is named", async () => {
  const listing = stage<string, string>(
    "listing",
    port(() => ["a"]),
  );
  const message =
    "pipe: the stage listing must return a stream from run, such as an async generator does (got a list of 1)";
  await expect(collect(Pipeline.from<string>().pipe(listing).stream(["a"]))).rejects.toThrow(message);
});

test.each<[string, unknown]>([
  ["undefined, not a list of { chunkId, score, placements }", undefined],
  ['[0] that is "a", not { chunkId, score, placements }', ["a"]],
  ["[0].chunkId undefined, which is no text", [{ id: "a", score: 1, placements: [] }]],
  [
    "[1].score NaN, which is no number",
    [
      { chunkId: "a", score: 1, placements: [] },
      { chunkId: "b", score: Number.NaN, placements: [] },
    ],
  ],
  ["[0].placements undefined, which is no list", [{ chunkId: "a", score: 1 }]],
])("a retriever of one's own is told that it returned %s", async (problem, found) => {
  const own: Retriever = { name: "tickets", retrieve: async () => found as readonly Found[] };
  const message = `The retriever tickets returned ${problem}`;
  await expect(fused([own]).retrieve({ text: "keys" }, { count: 3 })).rejects.toThrow(message);
  const asked = search({ ...memoryStore("words"), lexical: own }, { mode: "lexical" });
  await expect(
    collect(
      Pipeline.from<Question>()
        .pipe(asked)
        .stream([{ question: "keys" }]),
    ),
  ).rejects.toThrow(message);
});

test.each<[string, unknown]>([
  ["an object, not a list of hits", { hits: [] }],
  ['[0] that is "a", not a hit', ["a"]],
  ["[0].uri undefined, which is no text", [{ chunk: { id: "a", text: "b" } }]],
  ["[0].chunk undefined, which has no id and text", [{ uri: "a" }]],
])("a store is told that its hits() returned %s", async (problem, hits) => {
  const lexical: Retriever = { name: "lexical", retrieve: async () => [{ chunkId: "a", score: 1, placements: [] }] };
  const asked = search({ ...memoryStore("words"), lexical, hits: port(async () => hits) }, { mode: "lexical" });
  const message = `search: The store's hits() returned ${problem}`;
  await expect(
    collect(
      Pipeline.from<Question>()
        .pipe(asked)
        .stream([{ question: "keys" }]),
    ),
  ).rejects.toThrow(message);
});

test("a question's vector with a number that is not finite is refused before it is searched with", async () => {
  const embedder = { ...wordEmbedder(), embed: async () => ({ vectors: [new Float32Array(64).fill(Number.NaN)] }) };
  const asked = Pipeline.from<Question>()
    .pipe(embedQuestion(embedder))
    .stream([{ question: "keys" }]);
  await expect(collect(asked)).rejects.toMatchObject({
    code: "reply",
    message: 'words returned a vector with a number that is not finite for "keys"',
  });
});

test("an embedder that counts no number of tokens is named", async () => {
  const embedder = { ...wordEmbedder(), embed: async () => ({ vectors: [new Float32Array(64)], tokens: Number.NaN }) };
  const asked = Pipeline.from<Question>()
    .pipe(embedQuestion(embedder))
    .stream([{ question: "keys" }]);
  await expect(collect(asked)).rejects.toThrow(
    "The embedder words returned tokens NaN, which is no number of 0 or more",
  );
});

test("a recognizer that returns no text is named with what it returned", async () => {
  const file = { uri: "scan.png", path: "/docs/scan.png", bytes: png(20, 20) };
  const own = (returned: unknown) => port<TextRecognizer>({ name: "own", recognize: async () => returned });
  const read = (returned: unknown) => loadPicture(own(returned), file, new AbortController().signal);
  const message = (got: string) => `The recognizer own returned ${got} from recognize(), not the text of the picture`;
  await expect(read({ text: "90 days" })).rejects.toThrow(message("an object"));
  await expect(read(undefined)).rejects.toThrow(message("undefined"));
});

test("a knowledge base refuses ports that lack a field, and names it", async () => {
  const opened = (given: object) =>
    openKnowledgeBase({ embedder: wordEmbedder(), store: memoryStore("words"), ...given });
  const { knownVectors: _, ...withoutVectors } = memoryStore("words");
  await expect(opened({ store: withoutVectors })).rejects.toThrow(
    "store.knownVectors must be a function (got undefined)",
  );
  await expect(opened({ store: { ...memoryStore("words"), dense: "dense" } })).rejects.toThrow(
    'store.dense must be a retriever: { name, retrieve } (got "dense")',
  );
  await expect(opened({ chatModel: { ...scriptedModel([]), maxMessages: "ten" } })).rejects.toThrow(
    'chatModel.maxMessages must be a number of 1 or more (got "ten")',
  );
});

test("a store is opened with an embedder, or refuses before it makes a folder", async () => {
  for (const open of [openStore, openPostgresStore]) {
    for (const given of [undefined, "BAAI/bge-m3", {}, { space: "", dimension: 3 }, { space: "a", dimension: "3" }]) {
      const opening = (open as (...given: unknown[]) => Promise<unknown>)("postgres://localhost/none", given);
      await expect(opening).rejects.toThrow(
        /^open\w+: embedder: must be the embedder whose vectors the store holds, or its \{ space, dimension \} \(got /,
      );
    }
  }
});

test("what failed before the answer stands in its warnings, once, and in its events", async () => {
  const reranker = port<Parameters<typeof rerank>[0]>({
    model: "own",
    rerank: async () => ({ results: [{ index: 0, score: Number.NaN }] }),
  });
  const silent = { ...scriptedModel([]), model: "wording", stream: async function* () {} };
  const asking = mapStage("found", ({ question, ...rest }: Question) => ({
    ...rest,
    ...retrieved([keys], { question }),
    ...rest,
  }));
  const pipeline = Pipeline.from<Question>()
    .pipe(multiQuery(silent))
    .pipe(asking)
    .pipe(rerank(reranker))
    .pipe(answer(scriptedModel([[say('A key lasts 90 days [1: "90 days"].'), done]])));
  const events = await collect(pipeline.stream([{ question: "How long does a key last?" }]));
  const { warnings } = await collectAnswer<unknown>(events);
  expect(warnings).toEqual([
    expect.stringMatching(/^multi-query: wording failed \(truncated: .*\): the question was left unchanged$/),
    "rerank: own failed (reply: The reranker own returned results[0].score NaN, which is no finite number): the order of the search was kept",
  ]);
  expect(events.flatMap((event) => (event.type === "warning" ? [event.message] : []))).toEqual(warnings);
  expect(events[0]!.type).toBe("retrieved");
});

test("an abort while reranking ends the answer with the caller's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const reranker = {
    model: "own",
    rerank: async () => {
      controller.abort(reason);
      throw new TypeError("aborted");
    },
  };
  const pipeline = Pipeline.from<Parameters<typeof retrieved>[0]>()
    .pipe(mapStage("found", (hits) => retrieved(hits)))
    .pipe(rerank(reranker))
    .pipe(answer(scriptedModel([])));
  const events: AnswerEvent[] = await collect(pipeline.stream([[keys]], { signal: controller.signal }));
  expect(events).toMatchObject([{ type: "error", error: reason }]);
});

test.each<[unknown, string]>([
  ["hello", 'source must be a stream or list of items (got "hello"). Put a single item into a list: [item]'],
  [undefined, "source must be a stream or list of items (got undefined). Put a single item into a list: [item]"],
  [
    { question: "Why?" },
    "source must be a stream or list of items (got an object). Put a single item into a list: [item]",
  ],
  [Promise.resolve([]), "source must be a stream or list of items (got a promise). Await it first"],
])("a pipeline does not run over %s", async (source, message) => {
  const pipeline = Pipeline.from<unknown>();
  await expect(collect(pipeline.stream(source as never))).rejects.toThrow(`stream: ${message}`);
});

test("collectAnswer names what is given to it in place of an answer's events", async () => {
  const collecting = (events: unknown) => collectAnswer(events as AnswerEvent[]);
  await expect(collecting("hello")).rejects.toThrow(
    'collectAnswer: events must be the stream that ask() returns (got "hello")',
  );
  await expect(collecting(Promise.resolve([]))).rejects.toThrow("(got a promise)");
  await expect(collecting(undefined)).rejects.toThrow("(got undefined)");
  await expect(collecting(["hello"])).rejects.toThrow(
    'collectAnswer: events must be those of an answer, as ask() returns them (got "hello" among them)',
  );
  const events = Pipeline.from<ReturnType<typeof retrieved>>()
    .pipe(answer(scriptedModel([[say("It is not known."), done]])))
    .stream([retrieved([keys])]);
  expect((await collectAnswer(events)).text).toBe("It is not known.");
  await expect(collectAnswer(events)).rejects.toThrow(
    "collectAnswer: events had none left: a stream is read once. Ask again, or read it in one place",
  );
});

test.each<[string, () => unknown]>([
  ["returned a stream whose iterator is an object without next()", () => ({})],
  ["returned a stream whose iterator is null without next()", () => null],
  ["returned a stream whose next() gave undefined, not { value, done }", () => ({ next: async () => undefined })],
])("a chat model is told that it %s", async (problem, iterator) => {
  const model = port<ChatModel>({ ...scriptedModel([]), stream: () => ({ [Symbol.asyncIterator]: iterator }) });
  const last = (await eventsOf(answer(model), retrieved([keys]))).at(-1);
  expect(last).toMatchObject({ type: "error", error: { name: "OptionsError" } });
  expect(last?.type === "error" && last.error.message).toContain(`chatModel.stream of scripted ${problem}`);
});

test("a chat model that does not keep to its deadline is ended, and named", async () => {
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
  const model = port<ChatModel>({ ...scriptedModel([]), stream: () => never });
  const asked = Pipeline.from<ReturnType<typeof retrieved>>().pipe(answer(model));
  const last = (await collect(asked.stream([retrieved([keys])], { deadlineMs: 100 }))).at(-1);
  expect(last).toMatchObject({ type: "error", error: { code: "timeout" } });
  expect(last?.type === "error" && last.error.message).toMatch(/^scripted did not end its reply within the \d+ ms/);
});

test.each([
  ["boom", '"boom"'],
  [undefined, "undefined"],
  [null, "null"],
  [{ code: 1 }, "an object"],
])("what a port throws that is no Error, %s, ends the run by an Error that names the step", async (thrown, shownAs) => {
  const embed = async () => {
    throw thrown;
  };
  const asked = Pipeline.from<Question>().pipe(embedQuestion({ ...wordEmbedder(), embed }));
  const message = `embed-question failed, and threw what is no Error: ${shownAs}`;
  await expect(collect(asked.stream([{ question: "keys" }]))).rejects.toMatchObject({ message, cause: thrown });
});

test("a reason to abort that is no Error comes as it is", async () => {
  const asked = Pipeline.from<Question>().pipe(embedQuestion(wordEmbedder()));
  const signal = AbortSignal.abort("enough");
  await expect(collect(asked.stream([{ question: "keys" }], { signal }))).rejects.toBe("enough");
});

test.each([
  ["tokens Infinity", () => ({ vectors: [new Float32Array(64).fill(1)], tokens: Infinity })],
  ["a vector that is not a Float32Array", () => ({ vectors: [new Proxy(new Float32Array(64).fill(1), {})] })],
])("an embedder is told that it returned %s", async (problem, reply) => {
  const asked = Pipeline.from<Question>().pipe(embedQuestion({ ...wordEmbedder(), embed: async () => reply() }));
  await expect(collect(asked.stream([{ question: "keys" }]))).rejects.toThrow(`The embedder words returned ${problem}`);
});
