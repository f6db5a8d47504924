import type { Answer, ChunkHistory, TraceStep } from "../core/types.js";
import { why } from "../stages/answering/trace.js";
import { type ExpectedPlace, isCitedBy, type PassageQuestion } from "./evaluate-passages.js";

/**
 * The step that lost an expected passage, in the order of the steps:
 *
 * - `not-indexed`: no chunk of the store holds it;
 * - `below-cut`: no side of the search had it above the cut, or a condition of the question left it out;
 * - `fusion`: a side had it above the cut, and all sides together put it down;
 * - `step`: a step between search and answer lost it that is none of the others, such as one of your own;
 * - `rerank`: the reranker put it down;
 * - `prompt`: it did not fit into the prompt;
 * - `declined`: the model had it and gave no answer;
 * - `not-cited`: the model had it and answered from other passages;
 * - `misread`: the answer points to it, with other words than those that answer, or with words that it does not hold;
 * - `invented`: nothing answers the question, and an answer was given.
 */
export type LossKind = (typeof lossKinds)[number];

export const lossKinds = [
  "not-indexed",
  "below-cut",
  "fusion",
  "step",
  "rerank",
  "prompt",
  "declined",
  "not-cited",
  "misread",
  "invented",
] as const;

/** A wrong answer with the step that lost its passage. */
export interface Loss {
  /** The question that was answered wrongly. */
  readonly question: PassageQuestion;
  /** The step that lost the passage. Of several lost passages the one that was lost first counts. */
  readonly kind: LossKind;
  /** The place of the passage that came furthest; `undefined` for `invented`. */
  readonly place?: ExpectedPlace;
  /** Its chunk; `undefined` where no chunk holds it. */
  readonly chunkId?: string;
  /** One sentence with ranks and reasons, as `trace.why` has them. */
  readonly detail: string;
}

/** A place of a passage with the ids of the chunks that hold it. */
export interface LocatedPlace extends ExpectedPlace {
  readonly chunkIds: readonly string[];
}

type Fate = Pick<Loss, "kind" | "chunkId" | "detail">;

/**
 * The loss of a wrong answer, and `undefined` for a right one. Decided from the trace alone.
 *
 * @param passages of the question, in its order: the places of each with their chunks.
 */
export function lossOf(
  question: PassageQuestion,
  answer: Pick<Answer, "answered" | "citations" | "trace">,
  passages: readonly (readonly LocatedPlace[])[],
): Loss | undefined {
  if (passages.length === 0) {
    return answer.answered
      ? { question, kind: "invented", detail: "the documents do not answer it, and an answer was given" }
      : undefined;
  }
  const lost = passages
    .filter((places) => !(answer.answered && isCitedBy(answer, places)))
    .map((places) => furthest(places.map((place) => ({ ...fateOfPlace(place, answer), place: plain(place) }))));
  const first = lost.toSorted((a, b) => order(a) - order(b))[0];
  return first && { question, ...first };
}

function plain({ uri, quote }: LocatedPlace): ExpectedPlace {
  return { uri, quote };
}

function order({ kind }: Pick<Fate, "kind">): number {
  return lossKinds.indexOf(kind);
}

/** Any place of a passage is enough, so the one that came furthest tells what is missing. */
function furthest<Place extends Fate>(fates: readonly Place[]): Place {
  return fates.reduce((best, fate) => (order(fate) > order(best) ? fate : best));
}

function fateOfPlace({ uri, chunkIds }: LocatedPlace, answer: Pick<Answer, "answered" | "citations" | "trace">): Fate {
  if (chunkIds.length === 0) return { kind: "not-indexed", detail: `no chunk of ${uri} holds these words` };
  return furthest(chunkIds.map((chunkId) => ({ chunkId, ...fateOf(chunkId, answer) })));
}

function fateOf(chunkId: string, answer: Pick<Answer, "answered" | "citations" | "trace">): Fate {
  const history = why(answer.trace, standIn(chunkId, answer.trace));
  const { summary: detail } = history;
  const lostBy = losingStep(history, answer.trace);
  if (lostBy) return { kind: kindOfStep(lostBy, history), detail };
  if (!answer.answered) return { kind: "declined", detail: `${detail}, and no answer was given` };
  const pointing = answer.citations.filter((citation) => citation.chunkId === history.chunkId);
  if (pointing.length === 0) return { kind: "not-cited", detail: `${detail}, and other passages were cited` };
  const said = pointing.map(({ quote, support }) => `"${quote}" (${support})`).join(", ");
  return { kind: "misread", detail: `cited as ${said}` };
}

/** The chunk that stands for another: the first of two with the same text, or the one that another was merged into. */
function standIn(chunkId: string, trace: readonly TraceStep[]): string {
  let current = chunkId;
  for (const { dropped } of trace) {
    current = dropped.find((drop) => drop.chunkId === current)?.into ?? current;
  }
  return current;
}

/** The first step behind which the chunk was not seen, though the answer was made from chunks; `undefined` if it was used. */
function losingStep({ steps }: ChunkHistory, trace: readonly TraceStep[]): TraceStep | undefined {
  const withChunks = trace.flatMap((step, index) =>
    hasChunks(step) ? [{ step, outcome: steps[index]!.outcome }] : [],
  );
  // A search by a tool later on may find what the first one missed.
  const used = withChunks.findLastIndex(({ outcome }) => outcome === "kept");
  return withChunks[used + 1]?.step ?? (withChunks.length === 0 ? noSearch : undefined);
}

const noSearch: TraceStep = { step: "search", kept: [], dropped: [] };

function hasChunks({ kept, dropped, lists }: TraceStep): boolean {
  return kept.length + dropped.length > 0 || lists !== undefined;
}

function kindOfStep({ step, kept, lists }: TraceStep, { steps }: ChunkHistory): LossKind {
  if (step === "rerank") return "rerank";
  if (step === "pack") return "prompt";
  if (!step.startsWith("search")) return "step";
  const ranks = steps.flatMap(({ retrievers = [] }) => retrievers.flatMap(({ rank }) => rank ?? []));
  // One side alone would have kept it, so it is the sum of all sides that put it down.
  const wasAbove = ranks.some((rank) => rank <= kept.length);
  return wasAbove && (lists?.length ?? 0) > 1 ? "fusion" : "below-cut";
}
