import { expect, test } from "vitest";
import { createRunContext, type Stage } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import type { Embedded, Question, Retrieved } from "../../src/core/types.js";
import { condense } from "../../src/stages/questions/condense.js";
import { embedQuestion } from "../../src/stages/questions/embed-question.js";
import { hyde, multiQuery } from "../../src/stages/questions/query-variants.js";
import { diversify } from "../../src/stages/retrieval/diversify.js";
import { rerank } from "../../src/stages/retrieval/rerank.js";
import { search } from "../../src/stages/retrieval/search.js";
import { widen } from "../../src/stages/retrieval/widen.js";
import { memoryStore } from "../support/memory-store.js";
import { wordEmbedder } from "../support/word-embedder.js";
import { finish, hit, retrieved, say, scriptedModel } from "./answering/scripted-model.js";

const replyOf = (text: string) => scriptedModel([[say(text), finish()]]);
const followUp: Question = { question: "Does it?", history: [{ role: "user", text: "Do keys expire?" }] };
const embedded: Embedded<Question, "words"> = {
  question: "Keys?",
  vector: new Float32Array(64).fill(1 / 8),
  space: "words",
};
const found = retrieved([hit("Keys expire after 90 days."), hit("Locks rust.", "locks.md")]);
const store = memoryStore("words");
const reranker = {
  model: "order",
  rerank: async (_: string, texts: readonly string[]) => ({
    results: texts.map((_text, index) => ({ index, score: 1 / (index + 1) })),
    tokens: 5,
  }),
};

async function outputOf<In, Out>(stage: Stage<In, Out>, input: In): Promise<Out> {
  const source = (async function* () {
    yield input;
  })();
  const [output] = await collect(stage.run(source, createRunContext()));
  return output!;
}

test.each<[string, () => Promise<Partial<Retrieved>>]>([
  ["condense", () => outputOf(condense(replyOf("Do keys expire soon?")), followUp)],
  ["multiQuery", () => outputOf(multiQuery(replyOf('{"queries": ["When do keys end?"]}')), followUp)],
  ["hyde", () => outputOf(hyde(replyOf('{"passage": "Keys end."}')), followUp)],
  ["embedQuestion", () => outputOf(embedQuestion(wordEmbedder()), followUp)],
  ["search", () => outputOf(search(store), embedded)],
  ["rerank", () => outputOf(rerank(reranker), found)],
  ["diversify", () => outputOf(diversify(store), found)],
  ["widen", () => outputOf(widen(store), found)],
])("%s says how long it took: no less than nothing, and no more than passed meanwhile", async (_, work) => {
  const started = performance.now();
  const { trace = [], requests = [] } = await work();
  const passed = performance.now() - started;
  const times = [...trace, ...requests].flatMap(({ milliseconds }) =>
    milliseconds === undefined ? [] : [milliseconds],
  );
  expect(times.length).toBeGreaterThan(0);
  for (const time of times) {
    expect(time).toBeGreaterThanOrEqual(0);
    expect(time).toBeLessThanOrEqual(passed);
  }
});
