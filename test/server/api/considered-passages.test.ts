import { expect, test } from "vitest";
import type { Hit, TraceStep } from "../../../src/core/types.js";
import { consideredIn } from "../../../src/server/api/considered-passages.js";
import { askableTrace } from "../../../src/stages/answering/trace.js";

const ids = ["shown", "later", "low", "copy", "alike", "merged", "crowded", "twin", "folded"];

/** A trace that loses a passage at every step that can. */
const steps: TraceStep[] = [
  {
    step: "search hybrid",
    kept: ids.filter((id) => !["low", "copy"].includes(id)),
    dropped: [
      { chunkId: "low", reason: "ranked 7, and count is 6" },
      { chunkId: "copy", reason: "same text as shown", into: "shown" },
    ],
    milliseconds: 1,
    lists: [
      { by: "dense", asked: 100, chunkIds: ids, scores: ids.map(() => 0.5) },
      { by: "lexical", asked: 100, chunkIds: ["later", "shown"], scores: [0.5, 0.25] },
      { by: "titles", asked: 100, chunkIds: ["shown"], scores: [1] },
    ],
  },
  {
    step: "diversify",
    kept: ["shown", "later", "merged", "crowded", "twin", "folded"],
    dropped: [{ chunkId: "alike", reason: "adds less than the 5 hits that were kept" }],
    milliseconds: 1,
  },
  {
    step: "rerank",
    kept: ["shown", "merged", "crowded", "twin", "folded"],
    dropped: [{ chunkId: "later", reason: "ranked 5, and topN is 4" }],
    milliseconds: 1,
  },
  {
    step: "widen",
    kept: ["shown", "crowded", "twin", "folded"],
    dropped: [{ chunkId: "merged", reason: "merged into shown", into: "shown" }],
    milliseconds: 1,
  },
  {
    step: "pack",
    kept: ["shown", "folded"],
    dropped: [
      { chunkId: "crowded", reason: "no room" },
      { chunkId: "twin", reason: "same text as shown", into: "shown" },
    ],
    milliseconds: 1,
  },
  { step: "fold", kept: ["shown"], dropped: [], milliseconds: 1 },
];

test("each passage that was looked at has the step that it ended at, as a code, and its rank in every search", async () => {
  const hits = (found: readonly { readonly chunkId: string }[]) =>
    Promise.resolve(
      found.map(({ chunkId }) => ({ chunk: { id: chunkId, start: 0, end: 1, text: "x" }, uri: "a", score: 0 }) as Hit),
    );
  const considered = await consideredIn(askableTrace(steps), { hits });
  expect(Object.fromEntries(considered.map(({ chunkId, verdict }) => [chunkId, verdict]))).toEqual({
    shown: "shown",
    low: "low",
    copy: "same-text",
    alike: "alike",
    later: "reranked-low",
    merged: "merged",
    crowded: "no-room",
    twin: "same-text",
    folded: "other",
  });
  expect(considered.find(({ chunkId }) => chunkId === "shown")!.ranks).toEqual([
    { by: "meaning", rank: 1 },
    { by: "words", rank: 2 },
    { by: "other", rank: 1 },
  ]);
});
