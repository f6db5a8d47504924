import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KnowledgeBase, openKnowledgeBase, readFolder } from "citewell";
import { makeQuestions, readPassageQuestions, tune, type TunedSettings } from "citewell/evaluate";
import type { spread as Spread } from "../src/evaluate/collection.js";
import type { passageGain as PassageGain } from "../src/tuning/passage-gain.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { project, shipped } from "./runner/project.js";

/** Settings that search with, or the way to get them from a store with the spoiled ones. */
export interface Tuned {
  readonly settings: (corpus: string, size: RunContext<undefined>["size"]) => Promise<TunedSettings>;
}

/** Chunks of a sentence or two, one way of searching, and three candidates. */
const spoiled: TunedSettings = {
  chunk: { maxTokens: 48, overlapTokens: 8 },
  retrieval: { mode: "dense", count: 3, topN: 3, rerank: true },
};

/** Settings that people would try by hand, the defaults first. */
const byHand: Readonly<Record<string, TunedSettings>> = {
  defaults: { chunk: { maxTokens: 384 }, retrieval: { mode: "hybrid", count: 40, topN: 6, rerank: true } },
  "defaults without the reranker": {
    chunk: { maxTokens: 384 },
    retrieval: { mode: "hybrid", topN: 6, rerank: false },
  },
  "words alone": { chunk: { maxTokens: 384 }, retrieval: { mode: "lexical", count: 40, topN: 6, rerank: true } },
  "chunks of 192": { chunk: { maxTokens: 192 }, retrieval: { mode: "hybrid", count: 40, topN: 6, rerank: true } },
  "chunks of 768": { chunk: { maxTokens: 768 }, retrieval: { mode: "hybrid", count: 40, topN: 6, rerank: true } },
  "100 candidates": { chunk: { maxTokens: 384 }, retrieval: { mode: "hybrid", count: 100, topN: 6, rerank: true } },
};

const contenders: Contender<Tuned>[] = [
  { name: "spoiled", kind: "limit", load: async () => ({ settings: async () => spoiled }) },
  { name: "tuned from spoiled", kind: "citewell", load: async () => ({ settings: tunedFromSpoiled }) },
  ...Object.entries(byHand).map(([name, settings]): Contender<Tuned> => ({
    name,
    kind: "limit",
    load: async () => ({ settings: async () => settings }),
  })),
];

export const benchmark: Benchmark<Tuned> = {
  name: "tuning",
  question: "How near to the best does `tune` bring settings that were spoiled, by questions that it made itself?",
  method:
    "The pages of opentelemetry.io in chunks of 48 tokens, searched by vectors alone, with three candidates. 240 questions are made " +
    "from the store without a chat model, and `tune` chooses by them. What it chose and settings that a person would try are then " +
    "measured on the 511 written questions with passages (`answers/README.md`), which `tune` has not seen. The gain of a question is " +
    "how early its passages are met, 0 to 1, counted in tokens, so that chunks of all sizes compare.",
  contenders,
  beside: "defaults",
  measures: { gain: { unit: "", better: "higher" } },
  sizes: {
    smoke: { questions: 12, made: 40, settings: 3, pages: 40 },
    usual: { questions: 511, made: 240, settings: 24, pages: 0 },
  },
  rounds: 1,
  aims: aimsOf("tuning"),
  corpus: "markdown",
  unavailable: (corpus) =>
    existsSync(join(corpus, "en/docs/collector"))
      ? undefined
      : `the questions are about a corpus that is not in ${corpus}; name it with --corpus`,
  measure: measureSettings,
};

async function tunedFromSpoiled(corpus: string, size: RunContext<undefined>["size"]): Promise<TunedSettings> {
  return withStore(corpus, size, spoiled.chunk, async (kb) => {
    const { questions } = await makeQuestions(kb, { count: size["made"]!, seed: 3 });
    return (await tune(kb, { questions, present: spoiled.retrieval, maxSettings: size["settings"]! })).best;
  });
}

async function measureSettings({ settings }: Tuned, { size, corpus, timed }: RunContext<undefined>) {
  const { spread } = await shipped<{ readonly spread: typeof Spread }>("evaluate/collection.js");
  const { passageGain } = await shipped<{ readonly passageGain: typeof PassageGain }>("tuning/passage-gain.js");
  const halves = await Promise.all(
    ["train", "test"].map((half) => readPassageQuestions(join(project, `benchmarks/answers/${half}.jsonl`))),
  );
  const written = halves.flat().filter(({ passages }) => passages.length > 0);
  const { result } = await timed(async () => {
    const { chunk, retrieval } = await settings(corpus, size);
    return withStore(corpus, size, chunk, async (kb) => {
      let sum = 0;
      const asked = spread(written, size["questions"]!);
      for (const question of asked) {
        sum += passageGain(question, (await kb.search(question.text, searchOptions(retrieval))).hits);
      }
      return sum / asked.length;
    });
  });
  return { gain: result };
}

/** The search that an answer with these settings begins with. */
function searchOptions({
  mode = "hybrid",
  fusion,
  count = 40,
  topN = 6,
  rerank,
}: TunedSettings["retrieval"]): NonNullable<Parameters<KnowledgeBase["search"]>[1]> {
  return {
    mode,
    ...(rerank === false ? { count: topN } : { count: Math.max(count, topN), topN }),
    ...(fusion && { fusion }),
    syntax: false,
  };
}

async function withStore<Result>(
  corpus: string,
  { pages = 0 }: RunContext<undefined>["size"],
  chunk: TunedSettings["chunk"],
  use: (kb: KnowledgeBase) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const kb = await openKnowledgeBase({ path: folder, chunk });
  try {
    await kb.ingest(pages === 0 ? readFolder(corpus) : readMarkdown(corpus).slice(0, pages));
    return await use(kb);
  } finally {
    await kb.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
