import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { functionOption, listOption, optionsOf, resolve } from "../core/options.js";
import type { Store } from "../core/ports.js";
import type { Answer, Chunk, Document, Span } from "../core/types.js";
import type { ExpectedPlace, PassageQuestion } from "./evaluate-passages.js";
import { type LocatedPlace, type Loss, type LossKind, lossKinds, lossOf } from "./losses.js";
import { holdsAnswer } from "./metrics.js";
import { byName } from "./statistics.js";

/** An answer to a question whose passages are known: what `evaluatePassages` reports. */
export interface AnsweredQuestion {
  /** The question that was asked. */
  readonly question: PassageQuestion;
  /** Answer that was given, with its trace. */
  readonly answer: Pick<Answer, "answered" | "citations" | "trace">;
}

export interface ExplainLossesOptions {
  /** The store that was searched; it has to tell the chunks of a document, as those of citewell do. */
  readonly store: Pick<Store, "documentWithChunks">;
  /** The answers, right ones included. */
  readonly answers: readonly AnsweredQuestion[];
  /** The store's uri of a document that a question names. Default: they are the same. */
  readonly uriOf?: (uri: string) => string;
  /** Stops before the next answer, and makes it throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const explainLossesOptions = optionsOf<ExplainLossesOptions>()({
  store: z.custom<ExplainLossesOptions["store"]>(
    (value) => functionOption().safeParse((value as Partial<Store> | undefined)?.documentWithChunks).success,
    "must be a store that can tell the chunks of a document (documentWithChunks), such as kb.store",
  ),
  answers: listOption(
    z.array(z.custom<AnsweredQuestion>((value) => typeof value === "object" && value !== null && "answer" in value)),
  ),
  uriOf: functionOption<NonNullable<ExplainLossesOptions["uriOf"]>>().optional(),
  signal: abortSignal.optional(),
});

export type { Loss, LossKind };

/** Wrong answers by the step that lost their passages. */
export interface Losses {
  /** Number of answers, right ones included. */
  readonly answers: number;
  /** Number of losses of each kind. */
  readonly counts: Readonly<Record<LossKind, number>>;
  /** The wrong answers, in the order in which they were given. */
  readonly losses: readonly Loss[];
}

/**
 * Names for every wrong or declined answer the step that lost its passage: the search, fusion, reranking, the prompt, or the
 * model. Nothing is asked again: the answers' own traces tell.
 *
 * @throws OptionsError for a store that cannot tell the chunks of a document.
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase } from "citewell";
 * import { explainLosses, readPassageQuestions } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const answers = [];
 * for (const question of await readPassageQuestions("./questions.jsonl")) {
 *   answers.push({ question, answer: await collectAnswer(kb.ask(question.text)) });
 * }
 * const { counts } = await explainLosses({ store: kb.store, answers });
 * console.log(`${counts["below-cut"]} were not found, ${counts.rerank} put down by the reranker`);
 * ```
 */
export async function explainLosses(options: ExplainLossesOptions): Promise<Losses> {
  const {
    store,
    answers,
    uriOf = (uri: string) => uri,
    signal,
  } = resolve("explainLosses", explainLossesOptions, options);
  const losses: Loss[] = [];
  for (const { question, answer } of answers) {
    signal?.throwIfAborted();
    const located = await Promise.all(question.passages.map((places) => locate(places, { store, uriOf }, answer)));
    const loss = lossOf(question, answer, located);
    if (loss) losses.push(loss);
  }
  const counts = byName(lossKinds, (kind) => losses.filter((loss) => loss.kind === kind).length);
  return { answers: answers.length, counts, losses };
}

async function locate(
  places: readonly ExpectedPlace[],
  { store, uriOf }: Required<Pick<ExplainLossesOptions, "store" | "uriOf">>,
  { trace }: AnsweredQuestion["answer"],
): Promise<readonly LocatedPlace[]> {
  const seen = new Set(trace.flatMap(({ kept, dropped }) => [...kept, ...dropped.map(({ chunkId }) => chunkId)]));
  return Promise.all(
    places.map(async (place) => {
      const stored = await store.documentWithChunks!(uriOf(place.uri));
      const chunkIds = stored ? chunksHolding(place.quote, stored) : [];
      // A passage may stand in several chunks: those that the search met tell more than those it never saw.
      const met = chunkIds.filter((id) => seen.has(id));
      return { ...place, chunkIds: met.length > 0 ? met : chunkIds };
    }),
  );
}

/** The chunks that hold the words whole; where none does, those that hold a part of them. */
export function chunksHolding(
  quote: string,
  { document, chunks }: { readonly document: Document; readonly chunks: readonly Chunk[] },
): readonly string[] {
  const whole = chunks.filter(({ text }) => holdsAnswer(text, [quote]));
  if (whole.length > 0) return whole.map(({ id }) => id);
  const start = document.text.indexOf(quote);
  if (start < 0) return [];
  const place = { start, end: start + quote.length };
  return chunks.filter((chunk) => overlap(chunk, place)).map(({ id }) => id);
}

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}
