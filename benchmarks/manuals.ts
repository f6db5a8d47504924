import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { collectAnswer, openKnowledgeBase, readFolder } from "citewell";
import { evaluatePassages, readPassageQuestions } from "citewell/evaluate";
import type { spread as Spread } from "../src/evaluate/collection.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { project, shipped } from "./runner/project.js";

/** A manual with the folders of its pages; empty where it is not installed. */
export interface Manual {
  readonly questions: string;
  readonly folders: readonly string[];
}

const parts = ["tutorial", "howto", "faq", "using", "library"];

const manuals: readonly (Omit<Manual, "folders"> & {
  readonly root: string;
  readonly parts: readonly string[];
  readonly install: string;
})[] = [
  { questions: "undici", root: join(project, "node_modules/undici/docs/docs"), parts: [""], install: "npm ci" },
  { questions: "python3-doc", root: "/usr/share/doc/python3-doc/html", parts, install: "apt-get install python3-doc" },
  {
    questions: "debian-policy",
    root: "/usr/share/doc/debian-policy/policy.html",
    parts: [""],
    install: "apt-get install debian-policy",
  },
];

export const benchmark: Benchmark<Manual> = {
  name: "manuals",
  question: "How many questions about a manual are answered rightly, wrongly and not at all without a chat model?",
  method:
    "Three manuals with 85 questions each, written by reading the pages and before anything was asked: 40 direct ones, 25 in other " +
    "words, 20 that the manual does not answer (`answers/manuals`). Right is an answer whose quotations hold the fact, wrong one whose " +
    "quotations do not; literal are citations that stand in the page as they are quoted. Rules may be chosen on undici's manual; answers " +
    "about the other two are never read, their figures are those of unseen documents. 40 questions have an interval of some ± 13.",
  contenders: manuals.map(({ questions, root, parts: folders, install }): Contender<Manual> => ({
    name: questions,
    kind: "citewell",
    ...(!existsSync(root) && { missing: `${questions} is not installed: ${install}` }),
    load: async () => ({ questions, folders: folders.map((folder) => join(realpathSync(root), folder)) }),
  })),
  beside: "undici",
  measures: {
    "direct right": { unit: "%", better: "higher" },
    "direct wrong": { unit: "%", better: "lower" },
    "other words right": { unit: "%", better: "higher" },
    "other words wrong": { unit: "%", better: "lower" },
    "unanswerable declined": { unit: "%", better: "higher" },
    literal: { unit: "% of citations", better: "higher" },
  },
  sizes: { smoke: { questions: 9 }, usual: { questions: 85 } },
  rounds: 1,
  aims: aimsOf("manuals"),
  measure: measureManual,
};

async function measureManual({ questions, folders }: Manual, { size, timed }: RunContext<undefined>) {
  const { spread } = await shipped<{ readonly spread: typeof Spread }>("evaluate/collection.js");
  const all = await readPassageQuestions(join(project, `benchmarks/answers/manuals/${questions}.jsonl`));
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  const citations = { all: 0, literal: 0 };
  try {
    // Folders below node_modules are passed over.
    const pages = join(folder, "pages");
    for (const part of folders) cpSync(part, join(pages, basename(part)), { recursive: true });
    await kb.ingest(readFolder(pages, { include: ["**/*.md", "**/*.html"], exclude: ["**/_sources/**"] }));
    const textOf = async (uri: string) => (await kb.store.document(uri))?.text;
    const { result } = await timed(() =>
      evaluatePassages(spread(all, size["questions"]!), {
        ask: (question) => collectAnswer(kb.ask(question)),
        textOf,
        onAnswer: async ({ answer }) => {
          for (const { uri, start, end, quote, supported } of answer.citations) {
            citations.all++;
            if (supported && (await textOf(uri))?.slice(start, end) === quote) citations.literal++;
          }
        },
      }),
    );
    const of = (kind: string) => result.find((each) => each.kind === kind) ?? { right: 0, declined: 0 };
    const [direct, others, none] = [of("direct"), of("paraphrased"), of("unanswerable")];
    return {
      "direct right": 100 * direct.right,
      "direct wrong": wrongShare(direct),
      "other words right": 100 * others.right,
      "other words wrong": wrongShare(others),
      "unanswerable declined": 100 * none.declined,
      literal: citations.all === 0 ? 0 : (100 * citations.literal) / citations.all,
    };
  } finally {
    await kb.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Per cent, to the tenth: sums of shares such as 0.85 are a little off, and an aim of 15 would be missed by that. */
function wrongShare({ right, declined }: { readonly right: number; readonly declined: number }): number {
  return Math.round(1000 * (1 - right - declined)) / 10;
}
