import { beforeAll, describe, expect, test } from "vitest";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { TransportError } from "../../../src/core/errors.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { Pipeline, type Stage } from "../../../src/core/pipeline.js";
import type { ChatModel } from "../../../src/core/ports.js";
import { embedQuestion } from "../../../src/stages/questions/embed-question.js";
import { fuse } from "../../../src/stages/retrieval/fused.js";
import { hyde, multiQuery } from "../../../src/stages/questions/query-variants.js";
import { search, type SearchMode } from "../../../src/stages/retrieval/search.js";
import { collect } from "../../../src/core/stream.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import type { Question } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";
import { finish, say, scriptedModel, type Script } from "../answering/scripted-model.js";
import { localUpstream } from "../../support/local-upstream.js";

async function run(stage: Stage<Question, Question>, asked: Question) {
  const [out] = await collect(Pipeline.from<Question>().pipe(stage).stream([asked]));
  return out!;
}

const queries = (...all: readonly string[]): Script => [say(JSON.stringify({ queries: all })), finish()];
const question = "How do I rotate a key?";

describe("multiQuery", () => {
  test("adds other wordings, each once, and never replaces the question", async () => {
    const model = scriptedModel([
      queries("Key rotation", "how do I ROTATE a key", "", "Replace credentials", "key rotation!"),
    ]);
    const out = await run(multiQuery(model), { question });
    expect(out).toMatchObject({
      question,
      variants: [
        { kind: "question", text: "Key rotation" },
        { kind: "question", text: "Replace credentials" },
      ],
      usage: { inputTokens: 10, outputTokens: 3 },
      trace: [{ step: "multi-query", note: 'also asked: "Key rotation", "Replace credentials"' }],
    });
  });

  test("adds at most count wordings", async () => {
    const out = await run(multiQuery(scriptedModel([queries("a", "b", "c")]), { count: 2 }), { question });
    expect(out.variants!.map(({ text }) => text)).toEqual(["a", "b"]);
  });

  test.each<[string, Script, string]>([
    ["prose", [say("Sure! Here are some."), finish()], "the reply has no other wording"],
    ["another object", [say('{"question":"x"}'), finish()], "the reply has no other wording"],
    ["broken JSON", [say('{"queries":["a"'), finish()], "the reply has no other wording"],
    ["nothing but the question", queries(question), "the reply has no other wording"],
    ["a failure", [new TransportError("network", "cut")], "scripted failed (network: cut)"],
  ])("when the reply is %s the question goes on alone, and the trace says so", async (_, script, problem) => {
    const out = await run(multiQuery(scriptedModel([script])), { question });
    expect(out).not.toHaveProperty("variants");
    expect(out.trace!.at(-1)!.note).toBe(`${problem}: the question was left unchanged`);
  });

  test("reads a JSON object with other words around it", async () => {
    const out = await run(multiQuery(scriptedModel([[say('```json\n{"queries":["a"]}\n```'), finish()]])), {
      question,
    });
    expect(out.variants).toEqual([{ kind: "question", text: "a" }]);
  });
});

describe("hyde", () => {
  test("adds an invented passage", async () => {
    const model = scriptedModel([[say('{"passage":"Keys are rotated by hand."}'), finish()]]);
    const out = await run(hyde(model), { question });
    expect(out.variants).toEqual([{ kind: "passage", text: "Keys are rotated by hand." }]);
  });

  test("a model's refusal leaves the question alone", async () => {
    const out = await run(hyde(scriptedModel([[say("I cannot know that."), finish()]])), { question });
    expect(out).not.toHaveProperty("variants");
    expect(out.trace!.at(-1)!.note).toBe("the reply holds no passage: the question was left unchanged");
  });
});

async function storeOf(...texts: readonly string[]) {
  const store = memoryStore("words");
  const chunks = chunksOf("a", ...texts);
  const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)]));
  await store.write({ vectors, documents: [{ document: chunks[0]!.document, chunks }] });
  return store;
}

describe("a search with variants", () => {
  const asked: Question = {
    question: "rotate key",
    variants: [
      { kind: "question", text: "replace credentials" },
      { kind: "passage", text: "credentials are replaced by hand" },
    ],
  };
  const texts = ["rotate the key", "replace old credentials", "credentials are made by hand", "a key", "nothing of it"];

  test("embeds wordings with the question, and passages as documents", async () => {
    const purposes: unknown[] = [];
    const embedder = wordEmbedder({ before: (sent, { purpose }) => void purposes.push([purpose, sent]) });
    await collect(Pipeline.from<Question>().pipe(embedQuestion(embedder)).stream([asked]));
    expect(purposes).toEqual([
      ["query", ["rotate key", "replace credentials"]],
      ["document", ["credentials are replaced by hand"]],
    ]);
  });

  test.each<[SearchMode, readonly string[]]>([
    ["hybrid", ["dense", "lexical", "dense (variant 1)", "lexical (variant 1)", "dense (variant 2)"]],
    ["dense", ["dense", "dense (variant 1)", "dense (variant 2)"]],
    ["lexical", ["lexical", "lexical (variant 1)"]],
  ])(
    "in %s mode fuses all ranks, and the question weighs as much as all its variants together",
    async (mode, sides) => {
      const store = await storeOf(...texts);
      const found = await collect(
        Pipeline.from<Question>()
          .pipe(embedQuestion(wordEmbedder()))
          .pipe(search(store, { mode, count: 5, fusion: { method: "rrf" } }))
          .stream([asked]),
      );
      const wordings = [asked.question, ...asked.variants!.map(({ text }) => text)];
      const rankings = await Promise.all(
        sides.map((side) => {
          const text = wordings[Number(/\d/.exec(side)?.[0] ?? 0)]!;
          return store[side.startsWith("dense") ? "dense" : "lexical"].retrieve(
            { text, vector: wordVector(text) },
            { count: 100 },
          );
        }),
      );
      const weights = sides.map((side) => (side.includes("variant") ? 1 / 2 : 1));
      const slow = fuse(rankings, { method: "rrf", k: 10, weights, count: 100, asked: 200 });
      expect(found[0]!.hits.map(({ chunk, score }) => [chunk.id, score])).toEqual(
        slow.map(({ chunkId, score }) => [chunkId, score]),
      );
      const places = new Set(found[0]!.hits.flatMap(({ placements }) => placements.map(({ by }) => by)));
      expect([...places].toSorted()).toEqual([...sides, "fused"].toSorted());
    },
  );

  test("has the steps before it first in the trace", async () => {
    const store = await storeOf(...texts);
    const asking = Pipeline.from<Question>()
      .pipe(multiQuery(scriptedModel([queries("replace credentials")])))
      .pipe(search(store, { mode: "lexical" }));
    const [found] = await collect(asking.stream([{ question: "rotate key" }]));
    expect(found!.trace.map(({ step }) => step)).toEqual(["multi-query", "search lexical"]);
  });
});

describe("over the local service, which only quotes", () => {
  const local = localUpstream();
  let model: ChatModel;
  beforeAll(() => {
    model = chatModel(local.transport, { model: localDefaults.chat });
  });

  test.each(["How do I rotate an API key?", "What are sources and messages of the local engine?", "什么是跨度？"])(
    "%s goes on without variants",
    async (asked) => {
      for (const stage of [multiQuery(model), hyde(model)]) {
        const out = await run(stage, { question: asked });
        expect(out.question).toBe(asked);
        expect(out.variants).toBeUndefined();
        expect(out.trace!.at(-1)!.note).toMatch(/the question was left unchanged$/);
      }
    },
  );
});
