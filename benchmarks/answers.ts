import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, openKnowledgeBase, readFolder } from "citewell";
import { evaluatePassages, type EvaluatePassagesOptions, readPassageQuestions } from "citewell/evaluate";
import type { spread as Spread } from "../src/evaluate/collection.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { project, shipped } from "./runner/project.js";

const kinds = ["direct", "paraphrased", "comparison", "several passages", "unanswerable"];

/** Answers questions about a folder of documents. */
export interface Answerer {
  /** Pages is how many of the folder are enough; 0 is all. */
  readonly open: (
    folder: string,
    pages: number,
  ) => Promise<Pick<EvaluatePassagesOptions, "ask" | "textOf"> & { readonly close: () => Promise<void> }>;
}

export const benchmark: Benchmark<Answerer> = {
  name: "answers",
  question: "How many questions about a documentation are answered rightly by the local service alone?",
  method:
    "156 questions about opentelemetry.io, which were written by reading the pages and are not used to choose anything " +
    "(`answers/README.md`). Right is an answer whose quotations stand in an expected passage; an unanswerable question is right " +
    "when it is declined. Nothing is random, so one round is enough. The local chat model quotes and does not write: another " +
    "model answers more, and its figures are got by `citewell eval`. 67 direct questions have an interval of some ± 12.",
  contenders: [{ name: "citewell, local service", kind: "citewell", load: async () => ({ open: localAnswers }) }],
  beside: "citewell, local service",
  measures: {
    ...Object.fromEntries(kinds.map((kind) => [kind, { unit: "% right", better: "higher" }])),
    "direct, declined": { unit: "%", better: "lower" },
    flaws: { unit: "answers", better: "lower" },
  },
  sizes: { smoke: { questions: 10, pages: 50 }, usual: { questions: 156, pages: 0 } },
  rounds: 1,
  aims: aimsOf("answers"),
  corpus: "markdown",
  unavailable: (corpus) =>
    existsSync(join(corpus, "en/docs/collector"))
      ? undefined
      : `the questions are about a corpus that is not in ${corpus}; name it with --corpus`,
  measure: measureAnswers,
};

async function measureAnswers({ open }: Answerer, { size, corpus, timed }: RunContext<undefined>) {
  const { spread } = await shipped<{ readonly spread: typeof Spread }>("evaluate/collection.js");
  const all = await readPassageQuestions(join(project, "benchmarks/answers/test.jsonl"));
  const { ask, textOf, close } = await open(corpus, size["pages"] ?? 0);
  let flaws = 0;
  const { result } = await timed(() =>
    evaluatePassages(spread(all, size["questions"]!), {
      ask,
      textOf,
      onAnswer: (outcome) => {
        flaws += outcome.flaws.length;
      },
    }),
  );
  await close();
  const measures: Record<string, number> = { flaws };
  for (const { kind, right, declined } of result) {
    measures[kind] = 100 * right;
    if (kind === "direct") measures["direct, declined"] = 100 * declined;
  }
  return measures;
}

async function localAnswers(corpus: string, pages: number) {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const kb = await openKnowledgeBase({ path: folder });
  await kb.ingest(pages === 0 ? readFolder(corpus) : readMarkdown(corpus).slice(0, pages));
  return {
    ask: (question: string) => collectAnswer(kb.ask(question)),
    textOf: async (uri: string) => (await kb.store.document(uri))?.text,
    close: async () => {
      await kb.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
