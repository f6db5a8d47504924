import type { Searchable } from "../../core/ports.js";
import type { ChunkHistory, Trace, TraceStep } from "../../core/types.js";
import { wirePassage } from "./to-wire.js";
import type { WireConsidered } from "./wire.js";

/** Maximum number of passages that are listed: more than a reranker is usually given. */
const maxPassages = 50;
/** Characters that suffice to recognise a passage; its full text is fetched when it is opened. */
const maxTextCharacters = 300;

/** The passages that were looked at on the way to an answer, those first that came furthest, each with the reason. */
export async function consideredIn(trace: Trace, passages: Pick<Searchable, "hits">): Promise<WireConsidered[]> {
  const ids = byDistance(trace).slice(0, maxPassages);
  const hits = await passages.hits(ids.map((chunkId) => ({ chunkId, score: 0, placements: [] })));
  return hits.map((hit) => {
    const history = trace.why(hit.chunk.id);
    const { kept, steps, summary } = history;
    const views = steps.flatMap(({ retrievers = [] }) => retrievers);
    const scores = views.flatMap(({ score }) => score ?? []);
    const ranks = views.flatMap(({ by, rank }) => (rank === undefined ? [] : [{ by: searchedBy(by), rank }]));
    const { text, ...passage } = wirePassage({ ...hit, score: scores[0] ?? 0 });
    return {
      ...passage,
      text: text.slice(0, maxTextCharacters),
      ranks,
      kept,
      verdict: verdictOf(history),
      reason: summary,
    };
  });
}

function searchedBy(retriever: string): WireConsidered["ranks"][number]["by"] {
  if (retriever.startsWith("lexical")) return "words";
  return retriever.startsWith("dense") ? "meaning" : "other";
}

const losses: Readonly<Record<string, WireConsidered["verdict"]>> = {
  rerank: "reranked-low",
  diversify: "alike",
  widen: "merged",
  pack: "no-room",
};

/** The step that a passage ended at, as a code. */
function verdictOf({ kept, steps }: ChunkHistory): WireConsidered["verdict"] {
  if (kept) return "shown";
  const last = steps.findLast(({ outcome }) => outcome !== "absent");
  if (last?.outcome !== "dropped") return last ? "other" : "low";
  // Widening merges passages; any other step has put a passage with the same text in its place.
  if (last.into !== undefined && last.step !== "widen") return "same-text";
  return last.step.startsWith("search") ? "low" : (losses[last.step] ?? "other");
}

/** Ids of chunks, those first that the latest step kept, then those that it dropped, and so on to the first step. */
export function byDistance(trace: readonly TraceStep[]): string[] {
  const ids = trace.toReversed().flatMap(({ kept, dropped }) => [...kept, ...dropped.map(({ chunkId }) => chunkId)]);
  return [...new Set(ids)];
}
