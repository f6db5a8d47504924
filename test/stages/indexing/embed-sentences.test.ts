import { expect, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { sentenceEmbedding } from "../../../src/stages/indexing/embed-sentences.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";

test("equal sentences are sent once, in one document or in consecutive ones", async () => {
  const embedder = wordEmbedder({ maxBatchTexts: 2 });
  const embed = sentenceEmbedding(embedder, createRunContext());
  const first = ["Same here.", "Pears are green.", "Same here.", "Apples are red.", "Same here."];
  expect(await embed(first)).toEqual(first.map(wordVector));
  expect(embedder.calls).toEqual([["Same here.", "Pears are green."], ["Apples are red."]]);
  const second = ["Same here.", "The sky is blue.", "Apples are red."];
  expect(await embed(second)).toEqual(second.map(wordVector));
  expect(embedder.calls.slice(2)).toEqual([["The sky is blue."]]);
});

test("a call has no more sentences and tokens than the embedder takes, and says how many tokens were counted", async () => {
  const counted: (number | undefined)[] = [];
  const embedder = wordEmbedder({
    maxBatchTexts: 3,
    maxBatchTokens: 5,
    before: (_, { countedTokens }) => void counted.push(countedTokens),
  });
  await sentenceEmbedding(embedder, createRunContext())(["One two.", "Three four.", "Five.", "Six.", "A.", "B.", "C."]);
  expect(embedder.calls).toEqual([["One two.", "Three four.", "Five."], ["Six.", "A.", "B."], ["C."]]);
  expect(counted).toEqual([5, 3, 1]);
});

test("only what was sent is reported, and a document of known sentences costs nothing", async () => {
  const events: RunEvent[] = [];
  const embed = sentenceEmbedding(wordEmbedder(), createRunContext({ report: (event) => events.push(event) }));
  await embed(["One two.", "Three four five.", "One two."]);
  await embed(["Three four five.", "One two."]);
  expect(events).toEqual([
    { type: "progress", what: "requests", count: 1 },
    { type: "progress", what: "tokens", count: 5 },
  ]);
});

test("only recent sentences are remembered, and recurring ones longest", async () => {
  const embedder = wordEmbedder({ maxBatchTexts: 4096 });
  const embed = sentenceEmbedding(embedder, createRunContext());
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `Number ${from + at}.`);
  await embed(["Met again.", "Met once."]);
  await embed(["Met again.", ...numbered(0, 2000)]);
  await embed(["Met again.", ...numbered(2000, 4000)]);
  await embed(["Met again.", "Met once."]);
  expect(embedder.calls.at(-1)).toEqual(["Met once."]);
});

test("a refused sentence gets a zero vector, costs no other, and is tried again when it recurs", async () => {
  const embedder = wordEmbedder({
    before: (texts) => {
      if (texts.includes("Bad.")) throw new TransportError("refused", "no");
    },
  });
  const embed = sentenceEmbedding(embedder, createRunContext());
  for (const _ of [1, 2]) {
    const vectors = await embed(["Good one.", "Bad.", "Good two."]);
    expect(vectors).toEqual([wordVector("Good one."), new Float32Array(64), wordVector("Good two.")]);
  }
  // The second time, only the sentence without a vector is sent.
  expect(embedder.calls).toEqual([
    ["Good one.", "Bad.", "Good two."],
    ["Good one.", "Bad."],
    ["Good one."],
    ["Bad."],
    ["Good two."],
    ["Bad."],
  ]);
});
