import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { aimsOf } from "../aims.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";
import type { Asking, Opening, Weighed } from "../search/searching-process.js";
import { madeCorpus } from "../shared/made-corpus.js";
import { percentile } from "../shared/percentile.js";

/** What is sent to a process that searches. */
type Told = (message: Opening | Asking) => Promise<Weighed>;
export type StartSearching = () => { readonly told: Told; readonly close: () => Promise<void> };

export const benchmark: Benchmark<StartSearching> = {
  name: "million",
  question: "What does a process hold that searches a million chunks, and how soon does it answer?",
  method:
    "A store of a million chunks of 150 made words and 1,024 dimensions takes hours to make: `npm run bench -- large-store 1000000 1024 --store " +
    "build/large-store --kills 2 --parts hnsw,verify`, which kills itself twice on the way and checks every byte in the end. Here a process of its " +
    "own opens it and answers `questions` questions by vector and by words, 40 hits with their texts, and again with a filter that admits 1 %. Memory is all " +
    "that the process holds. Its files may be in the machine's memory already; each round is a new process.",
  contenders: [{ name: "citewell", kind: "citewell", load: async () => startSearching }],
  beside: "citewell",
  measures: {
    "first answer": { unit: "s", better: "lower" },
    memory: { unit: "GB", better: "lower" },
    "hybrid p50": { unit: "ms", better: "lower" },
    "hybrid p99": { unit: "ms", better: "lower" },
    "p50, filter of 1 %": { unit: "ms", better: "lower" },
  },
  sizes: {
    smoke: { chunks: 1_000_000, dimension: 1024, words: 150, questions: 2 },
    usual: { chunks: 1_000_000, dimension: 1024, words: 150, questions: 200 },
  },
  rounds: 3,
  aims: aimsOf("million"),
  corpus: "store",
  unavailable: (corpus) =>
    existsSync(join(corpus, "1000000x1024"))
      ? undefined
      : `there is no ${join(corpus, "1000000x1024")}; make it with large-store, and name its folder by --corpus`,
  measure: measureMillion,
};

async function measureMillion(start: StartSearching, { size, corpus }: RunContext<undefined>) {
  const { chunks = 0, dimension = 0, words = 0, questions = 0 } = size;
  const { queries } = madeCorpus(chunks, dimension, questions, words);
  const { told, close } = start();
  const opened = performance.now();
  await told({ path: join(corpus, `${chunks}x${dimension}`), space: "benchmark", dimension, index: "hnsw" });
  let firstSeconds = 0;
  let bytes = 0;
  const asked = async (more: Pick<Asking, "filter">) => {
    const taken: number[] = [];
    for (const { text, vector } of queries) {
      const startedAt = performance.now();
      ({ residentBytes: bytes } = await told({ text, vector, ...more }));
      firstSeconds ||= (performance.now() - opened) / 1000;
      taken.push(performance.now() - startedAt);
    }
    return taken;
  };
  const hybrid = await asked({});
  const filtered = await asked({ filter: { metadata: { hundredth: 1 } } });
  await close();
  return {
    "first answer": firstSeconds,
    memory: bytes / 1e9,
    "hybrid p50": percentile(hybrid, 0.5),
    "hybrid p99": percentile(hybrid, 0.99),
    "p50, filter of 1 %": percentile(filtered, 0.5),
  };
}

function startSearching(): ReturnType<StartSearching> {
  const program = fileURLToPath(new URL("../search/searching-process.js", import.meta.url));
  const child = fork(program, { serialization: "advanced" });
  return {
    told: async (message) => {
      child.send(message);
      return ((await once(child, "message")) as [Weighed])[0];
    },
    close: async () => {
      child.disconnect();
      await once(child, "exit");
    },
  };
}
