import { given } from "../../core/given.js";
import type { ChunkHistory, ChunkStep, RetrieverView, Trace, TraceStep } from "../../core/types.js";

/** Follows a chunk through the steps, and says in a sentence why it is, or is not, among the hits. Accepts any id. */
export function why(trace: readonly TraceStep[], chunkId: string): ChunkHistory {
  const steps = trace.map((step) => stepOf(step, chunkId));
  const last = steps.findLast(({ outcome }) => outcome !== "absent");
  const kept = last?.outcome === "kept" && steps.lastIndexOf(last) === lastWithChunks(trace);
  return { chunkId, kept, steps, summary: summaryOf(steps, last, kept) };
}

/** The steps as an array that can be asked `why`, and is written as JSON like any other. */
export function askableTrace(steps: readonly TraceStep[]): Trace {
  const copy = [...steps];
  const ask = { value: (chunkId: string) => why(copy, chunkId) };
  return Object.defineProperty(copy, "why", ask) as unknown as Trace;
}

function stepOf({ step, kept, dropped, lists }: TraceStep, chunkId: string): ChunkStep {
  const views = lists?.map(({ by, asked, chunkIds, scores }): RetrieverView => {
    const index = chunkIds.indexOf(chunkId);
    if (index >= 0) return { by, rank: index + 1, score: scores[index]! };
    return { by, reason: notFound(by, asked, chunkIds.length) };
  });
  const retrievers = views && { retrievers: views };
  const rank = kept.indexOf(chunkId) + 1;
  if (rank > 0) return { step, outcome: "kept", rank, ...retrievers };
  const loss = dropped.find((drop) => drop.chunkId === chunkId);
  return loss
    ? { step, outcome: "dropped", reason: loss.reason, ...given({ into: loss.into }), ...retrievers }
    : { step, outcome: "absent", ...retrievers };
}

function notFound(by: string, asked: number, found: number): string {
  if (found >= asked) return `not among the first ${asked}`;
  return by.startsWith("lexical")
    ? "no word in common with the query, or left out by a condition"
    : `not among the ${found} it has`;
}

function lastWithChunks(trace: readonly TraceStep[]): number {
  return trace.findLastIndex(({ kept, dropped }) => kept.length + dropped.length > 0);
}

function summaryOf(steps: readonly ChunkStep[], last: ChunkStep | undefined, kept: boolean): string {
  if (kept) return `kept by ${last!.step} at rank ${last!.rank}`;
  if (last?.outcome === "dropped") return `dropped by ${last.step}: ${last.reason}`;
  if (last) return `kept by ${last.step} at rank ${last.rank}, and not seen behind it`;
  const views = steps.flatMap(({ retrievers = [] }) => retrievers);
  if (views.some(({ rank }) => rank !== undefined)) {
    const places = views.filter(({ rank }) => rank !== undefined).map(({ by, rank }) => `${by} ${rank}`);
    return `found (${places.join(", ")}), and ranked too low by both together to be looked at`;
  }
  if (views.length === 0) return "never found: the trace has no search";
  return `never found: ${views.map(({ by, reason }) => `${by}: ${reason}`).join("; ")}`;
}
