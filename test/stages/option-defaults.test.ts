import { expect, test } from "vitest";
import type { z } from "zod";
import { SearchToolOptions } from "../../src/stages/answering/search-tool.js";
import { AnswerOptions } from "../../src/stages/answering/answer-options.js";
import { ChunkOptions } from "../../src/stages/indexing/chunk.js";
import { EmbedChunksOptions } from "../../src/stages/indexing/embed-chunks.js";
import { CondenseOptions } from "../../src/stages/questions/condense.js";
import { HydeOptions, MultiQueryOptions } from "../../src/stages/questions/query-variants.js";
import { DiversifyOptions } from "../../src/stages/retrieval/diversify.js";
import { FusedOptions } from "../../src/stages/retrieval/fused.js";
import { RerankOptions } from "../../src/stages/retrieval/rerank.js";
import { SearchOptions } from "../../src/stages/retrieval/search.js";
import { widenOptions } from "../../src/stages/retrieval/widen.js";

const questionTime = { timeoutMs: 10_000, reserveMs: 3000 };

test.each<[string, z.ZodType, object]>([
  [
    "answer",
    AnswerOptions,
    {
      tools: [],
      instructions: "",
      toolUse: "auto",
      maxRounds: 8,
      widenTotalTokens: 2048,
      toolConcurrency: 8,
      toolResultTokens: 2000,
      approvalTimeoutMs: 300_000,
    },
  ],
  ["chunk", ChunkOptions, { overlapTokens: 32, parentTokens: 1024, strategy: "structure" }],
  ["condense", CondenseOptions, { of: "follow-ups", historyTokens: 2000, ...questionTime }],
  ["diversify", DiversifyOptions, { lambda: 0.7 }],
  ["embedChunks", EmbedChunksOptions, { concurrency: 8, batchBytes: 4_194_304 }],
  ["fused", FusedOptions, { k: 10 }],
  ["hyde", HydeOptions, questionTime],
  ["multiQuery", MultiQueryOptions, { count: 3, ...questionTime }],
  ["rerank", RerankOptions, { topN: 6, onFailure: "keep-order", reserveMs: 2000 }],
  ["search", SearchOptions, { count: 40, mode: "hybrid" }],
  ["widen", widenOptions, { maxTokens: 1024, to: "parent" }],
])("the defaults of %s are those that its options document", (_name, schema, defaults) => {
  expect(schema.parse({})).toEqual(defaults);
});

test("the default search tool gives 6 hits within 30 seconds", () => {
  expect(SearchToolOptions.parse({})).toMatchObject({ name: "search_documents", limit: 6, timeoutMs: 30_000 });
});
