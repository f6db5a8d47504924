import { expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.js";
import type { Reranker } from "../../src/core/ports.js";
import { answer } from "../../src/stages/answering/answer.js";
import { searchTool } from "../../src/stages/answering/search-tool.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../src/stages/indexing/embed-chunks.js";
import { condense } from "../../src/stages/questions/condense.js";
import { hyde, multiQuery } from "../../src/stages/questions/query-variants.js";
import { diversify } from "../../src/stages/retrieval/diversify.js";
import { fused } from "../../src/stages/retrieval/fused.js";
import { rerank } from "../../src/stages/retrieval/rerank.js";
import { search } from "../../src/stages/retrieval/search.js";
import { widen } from "../../src/stages/retrieval/widen.js";
import { memoryStore } from "../support/memory-store.js";
import { wordEmbedder } from "../support/word-embedder.js";
import { scriptedModel } from "./answering/scripted-model.js";

const model = scriptedModel([], { contextTokens: 1_000_000 });
const store = memoryStore("words");
const embedder = wordEmbedder();
const reranker: Reranker = { model: "none", rerank: async () => ({ results: [], tokens: 0 }) };
const documents = { search: async () => ({ hits: [], trace: [] }) };

/** Each maker, and of each option the lowest and the highest value, and what is one step outside. */
const makers: Readonly<Record<string, (options: object) => unknown>> = {
  answer: (options) => answer(model, options),
  chunk: (options) => chunk(options),
  condense: (options) => condense(model, options),
  diversify: (options) => diversify(store, options),
  embedChunks: (options) => embedChunks(embedder, options),
  fusion: (fusion) => search(store, { fusion }),
  fused: (options) => fused([store.dense, store.lexical], options),
  hyde: (options) => hyde(model, options),
  multiQuery: (options) => multiQuery(model, options),
  rerank: (options) => rerank(reranker, options),
  search: (options) => search(store, options),
  searchTool: (options) => searchTool(documents, options),
  widen: (options) => widen(store, options),
};

const whole = (low: number, high?: number) => ({ low, high, step: 1 });
const fraction = (low: number, high?: number) => ({ low, high, step: 0.001 });

const bounds = [
  ["answer", "maxRounds", whole(0, 64)],
  ["answer", "answerTokens", whole(1)],
  ["answer", "thinkingTokens", whole(0)],
  ["answer", "contextTokens", whole(256)],
  ["answer", "widenTotalTokens", whole(0)],
  ["answer", "toolConcurrency", whole(1, 128)],
  ["answer", "toolResultTokens", whole(16)],
  ["answer", "temperature", fraction(0, 2)],
  ["answer", "approvalTimeoutMs", whole(1, 24 * 3_600_000)],
  ["chunk", "maxTokens", whole(16)],
  ["chunk", "overlapTokens", whole(0, 96)],
  ["chunk", "parentTokens", whole(0)],
  ["condense", "historyTokens", whole(64)],
  ["condense", "timeoutMs", fraction(1)],
  ["condense", "reserveMs", fraction(0)],
  ["diversify", "lambda", fraction(0, 1)],
  ["diversify", "count", whole(1, 1000)],
  ["embedChunks", "concurrency", whole(1, 256)],
  ["embedChunks", "batchTexts", whole(1)],
  ["embedChunks", "batchTokens", whole(1)],
  ["embedChunks", "batchBytes", whole(1)],
  ["embedChunks", "maxTokens", whole(1)],
  ["embedChunks", "firstBatchTexts", whole(1)],
  ["embedChunks", "rememberTexts", whole(0)],
  ["fused", "k", fraction(0, 1000)],
  ["fused", "candidates", whole(1)],
  ["hyde", "timeoutMs", fraction(1)],
  ["multiQuery", "count", whole(1, 8)],
  ["rerank", "topN", whole(1, 1000)],
  ["rerank", "candidates", whole(1)],
  ["rerank", "reserveMs", fraction(0)],
  ["search", "count", whole(1, 1000)],
  ["fusion", "k", fraction(0, 1000)],
  ["searchTool", "count", whole(1, 100)],
  ["searchTool", "timeoutMs", whole(1, 3_600_000)],
  ["widen", "maxTokens", whole(16)],
] as const;

test.each(bounds)(
  "%s takes %s from the lowest to the highest value, and refuses what is beyond",
  (maker, option, range) => {
    const { low, high, step } = range;
    const make = (value: number) => makers[maker]!({ [option]: value });
    expect(() => make(low)).not.toThrow();
    expect(() => make(low - step)).toThrow(OptionsError);
    expect(() => make(low - step)).toThrow(option);
    if (high === undefined) {
      expect(() => make(1_000_000)).not.toThrow();
    } else {
      expect(() => make(high)).not.toThrow();
      expect(() => make(high + step)).toThrow(option);
    }
  },
);

test.each(["name", "description"])("searchTool takes a %s of one character, and refuses an empty one", (option) => {
  expect(() => makers.searchTool!({ [option]: "x" })).not.toThrow();
  expect(() => makers.searchTool!({ [option]: "" })).toThrow(option);
});

test("answer takes 128 tools, and refuses one more", () => {
  const tools = (count: number) =>
    Array.from({ length: count }, (_, at) => searchTool(documents, { name: `tool${at}` }));
  expect(() => answer(model, { tools: tools(128) })).not.toThrow();
  expect(() => answer(model, { tools: tools(129) })).toThrow("tools");
});

test.each(Object.keys(makers))("%s refuses an option that it does not know, and names it", (maker) => {
  expect(() => makers[maker]!({ nonsense: 1 })).toThrow("nonsense");
  expect(() => makers[maker]!({})).not.toThrow();
});
