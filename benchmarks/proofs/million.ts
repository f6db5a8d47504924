import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { aimsOf } from "../aims.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";
import type { Asking, Opening, Weighed } from "../search/searching-process.js";
import { madeCorpus } from "../shared/made-corpus.js";
import { percentile } from "../shared/percentile.js";

/** Sends a message to a searching process. */
type Told = (message: Opening | Asking) => Promise<Weighed>;
export type StartSearching = () => { readonly told: Told; readonly close: () => Promise<void> };

export const benchmark: Benchmark<StartSearching> = {
  name: "million",
  question: "What does a process hold that searches a million chunks, and how soon does it answer?",
  method:
    "A store of a million chunks of 150 made words and 1,024 dimensions takes hours to make: `npm run bench -- large-store 1000000 1024 --store " +
    "build/large-store --kills 2 --parts hnsw,verify`, which kills itself twice on the way and checks every byte in the end. Here a process of its " +
    "own opens it and answers `questions` questions by vector and by words, 40 hits with their texts, after " +
    "`warmUps` others for which its code was compiled, and again with a filter that admits 1 %. Memory is all " +
    "that the process holds. Each round is a new process, before which the files are read through, as a machine has them in its memory that searches them " +
    "all day. Cold is the first of `coldQuestions` questions of another process, for which the machine was told to forget the files (GNU dd; left out elsewhere).",
  contenders: [{ name: "citewell", kind: "citewell", load: async () => startSearching }],
  beside: "citewell",
  measures: {
    "first answer": { unit: "s", better: "lower" },
    memory: { unit: "GB", better: "lower" },
    "hybrid p50": { unit: "ms", better: "lower" },
    "hybrid p99": { unit: "ms", better: "lower" },
    "p50, filter of 1 %": { unit: "ms", better: "lower" },
    "first answer, cold": { unit: "s", better: "lower" },
    "hybrid p50, cold": { unit: "ms", better: "lower" },
  },
  sizes: {
    smoke: { chunks: 1_000_000, dimension: 1024, words: 150, questions: 2, coldQuestions: 2, warmUps: 1 },
    usual: { chunks: 1_000_000, dimension: 1024, words: 150, questions: 200, coldQuestions: 50, warmUps: 50 },
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
  const { chunks = 0, dimension = 0, words = 0, questions = 0, coldQuestions = 0, warmUps = 0 } = size;
  const { queries } = madeCorpus(chunks, dimension, warmUps + questions, words);
  const path = join(corpus, `${chunks}x${dimension}`);
  const files = existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
  const ask = async (
    counted: { readonly from: number; readonly to: number },
    filters: readonly Pick<Asking, "filter">[],
  ) => {
    const { told, close } = start();
    const opened = performance.now();
    await told({ path, space: "benchmark", dimension, index: "hnsw" });
    let firstSeconds = 0;
    let bytes = 0;
    const taken: number[][] = [];
    for (const filter of filters) {
      const times: number[] = [];
      for (const { text, vector } of queries.slice(0, counted.to)) {
        const startedAt = performance.now();
        ({ residentBytes: bytes } = await told({ text, vector, ...filter }));
        firstSeconds ||= (performance.now() - opened) / 1000;
        times.push(performance.now() - startedAt);
      }
      taken.push(times.slice(counted.from));
    }
    await close();
    return { firstSeconds, bytes, taken };
  };
  const isForgotten = files.every((file) => spawnSync("dd", [`if=${file}`, "iflag=nocache", "count=0"]).status === 0);
  const cold = isForgotten ? await ask({ from: 0, to: coldQuestions }, [{}]) : undefined;
  for (const file of files) for await (const _ of createReadStream(file, { highWaterMark: 1 << 20 }));
  const { firstSeconds, bytes, taken } = await ask({ from: warmUps, to: warmUps + questions }, [
    {},
    { filter: { metadata: { hundredth: 1 } } },
  ]);
  const [hybrid = [], filtered = []] = taken;
  return {
    "first answer": firstSeconds,
    memory: bytes / 1e9,
    "hybrid p50": percentile(hybrid, 0.5),
    "hybrid p99": percentile(hybrid, 0.99),
    "p50, filter of 1 %": percentile(filtered, 0.5),
    ...(cold && { "first answer, cold": cold.firstSeconds, "hybrid p50, cold": percentile(cold.taken[0]!, 0.5) }),
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
