import { expect, test } from "vitest";
import { askableTrace, why } from "../../../src/stages/answering/trace.js";
import type { TraceStep } from "../../../src/core/types.js";

const trace: readonly TraceStep[] = [
  { step: "condense", kept: [], dropped: [], note: "asked as: x" },
  {
    step: "search hybrid",
    kept: ["a", "b", "c"],
    dropped: [{ chunkId: "d", reason: "same text as a" }],
    lists: [
      { by: "dense", asked: 4, chunkIds: ["a", "c", "d", "e"], scores: [0.9, 0.8, 0.7, 0.1] },
      { by: "lexical", asked: 4, chunkIds: ["b", "a", "d"], scores: [3, 2, 1] },
    ],
  },
  { step: "rerank", kept: ["b", "a"], dropped: [{ chunkId: "c", reason: "ranked 3, and topN is 2" }] },
];

test("a kept chunk has its rank at every step, and rank and score of each retriever", () => {
  expect(why(trace, "a")).toEqual({
    chunkId: "a",
    kept: true,
    steps: [
      { step: "condense", outcome: "absent" },
      {
        step: "search hybrid",
        outcome: "kept",
        rank: 1,
        retrievers: [
          { by: "dense", rank: 1, score: 0.9 },
          { by: "lexical", rank: 2, score: 2 },
        ],
      },
      { step: "rerank", outcome: "kept", rank: 2 },
    ],
    summary: "kept by rerank at rank 2",
  });
});

test.each([
  ["c", "dropped by rerank: ranked 3, and topN is 2"],
  ["d", "dropped by search hybrid: same text as a"],
  ["e", "found (dense 4), and ranked too low by both together to be looked at"],
  [
    "z",
    "never found: dense: not among the first 4; lexical: no word in common with the query, or left out by a condition",
  ],
])("%s is not among the hits: %s", (chunkId, summary) => {
  expect(why(trace, chunkId)).toMatchObject({ kept: false, summary });
});

test("if only one retriever found a chunk, the other says how far it looked", () => {
  expect(why(trace, "b").steps[1]!.retrievers).toEqual([
    { by: "dense", reason: "not among the first 4" },
    { by: "lexical", rank: 1, score: 3 },
  ]);
});

test("a step that silently loses a chunk is distinguished from one that keeps it", () => {
  const silent = [...trace, { step: "mine", kept: ["b"], dropped: [] }];
  expect(why(silent, "a")).toMatchObject({ kept: false, summary: "kept by rerank at rank 2, and not seen behind it" });
});

test("an empty trace finds nothing", () => {
  expect(why([], "a").summary).toBe("never found: the trace has no search");
});

test("a trace with methods is serialised and compared like its plain steps", () => {
  const asked = askableTrace(trace);
  expect(asked.why("c")).toEqual(why(trace, "c"));
  expect(JSON.stringify(asked)).toBe(JSON.stringify(trace));
  expect(asked).toEqual(trace);
});
