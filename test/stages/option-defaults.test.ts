import { expect, test } from "vitest";
import type { z } from "zod";
import { searchToolOptions } from "../../src/stages/answering/search-tool.js";
import { answerOptions } from "../../src/stages/answering/answer-options.js";
import { chunkOptions } from "../../src/stages/indexing/chunk.js";
import { embedChunksOptions } from "../../src/stages/indexing/embed-chunks.js";
import { describeImagesOptions } from "../../src/stages/questions/describe-images.js";
import { condenseOptions } from "../../src/stages/questions/condense.js";
import { hydeOptions, multiQueryOptions } from "../../src/stages/questions/query-variants.js";
import { diversifyOptions } from "../../src/stages/retrieval/diversify.js";
import { fusedOptions } from "../../src/stages/retrieval/fused.js";
import { rerankOptions } from "../../src/stages/retrieval/rerank.js";
import { searchOptions } from "../../src/stages/retrieval/search.js";
import { widenOptions } from "../../src/stages/retrieval/widen.js";

const questionTime = { timeoutMs: 10_000, reserveMs: 3000 };

test.each<[string, z.ZodType, object]>([
  [
    "answer",
    answerOptions,
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
  ["chunk", chunkOptions, { overlapTokens: 32, parentTokens: 1024, contextLine: true, strategy: "structure" }],
  ["describeImages", describeImagesOptions, { maxTokens: 256, ...questionTime, timeoutMs: 30_000 }],
  ["condense", condenseOptions, { questions: "follow-ups", historyTokens: 2000, ...questionTime }],
  ["diversify", diversifyOptions, { lambda: 0.7 }],
  ["embedChunks", embedChunksOptions, { concurrency: 8, batchBytes: 4_194_304 }],
  ["fused", fusedOptions, { method: "rrf", k: 10 }],
  ["hyde", hydeOptions, questionTime],
  ["multiQuery", multiQueryOptions, { count: 3, ...questionTime }],
  ["rerank", rerankOptions, { topN: 6, onFailure: "keep-order", searchWeight: 0, reserveMs: 2000 }],
  ["search", searchOptions, { count: 40, mode: "hybrid", fusion: {}, correct: true }],
  ["widen", widenOptions, { maxTokens: 1024, to: "parent" }],
])("the defaults of %s are those that its options document", (_name, schema, defaults) => {
  expect(schema.parse({})).toEqual(defaults);
});

test("the default search tool gives 6 hits within 30 seconds", () => {
  expect(searchToolOptions.parse({})).toMatchObject({ name: "search_documents", count: 6, timeoutMs: 30_000 });
});
