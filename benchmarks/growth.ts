import { aimsOf } from "./aims.js";
import type { Benchmark, Measures, RunContext } from "./runner/benchmark.js";
import { citewellIndex } from "./search/citewell-index.js";
import { madeCorpus } from "./shared/made-corpus.js";
import { percentile } from "./shared/percentile.js";

const sizes = [1000, 10_000, 100_000, 1_000_000];
/** Questions before searching is timed. */
const warmUps = 50;
const nameOf = (chunks: number) => `${chunks.toLocaleString("en-US")} chunks`;

export interface Grown {
  readonly chunks: number;
  readonly make: typeof citewellIndex;
}

export const benchmark: Benchmark<Grown> = {
  name: "growth",
  question: "How do the costs of a store grow with its size?",
  method:
    "The store with its defaults and the graph, of chunks of 150 made words, at each power of ten up to `most` (`--size most=1000000` for a million). " +
    "Memory is all that a process holds which only opens the store and answers 100 questions: Node and the library as well. 50 questions " +
    "warm up before those that are timed. The exponents below the table are those of cost over size, " +
    "over all sizes by least squares, and from one power of ten to the next: 1 is in proportion, 0 is no growth. A thousand chunks take so " +
    "little that fixed costs hide their growth.",
  contenders: sizes.map((chunks) => ({
    name: nameOf(chunks),
    kind: "citewell",
    load: async () => ({ chunks, make: citewellIndex }),
  })),
  beside: nameOf(sizes[0]!),
  scale: Object.fromEntries(sizes.map((chunks) => [nameOf(chunks), chunks])),
  measures: {
    ingest: { unit: "s", better: "lower" },
    "ingest CPU": { unit: "s", better: "lower" },
    memory: { unit: "MB", better: "lower" },
    "memory beside vectors": { unit: "× raw vectors", better: "lower" },
    disk: { unit: "MB", better: "lower" },
    opening: { unit: "ms", better: "lower" },
    "hybrid p50": { unit: "ms", better: "lower" },
    "verify CPU": { unit: "s", better: "lower" },
  },
  sizes: { smoke: { most: 1000, dimension: 16 }, usual: { most: 100_000, dimension: 1024 } },
  rounds: 1,
  aims: aimsOf("growth"),
  measure: measureGrowth,
};

async function measureGrowth({ chunks, make }: Grown, { size, timed }: RunContext<undefined>): Promise<Measures> {
  const { most = 0, dimension = 0 } = size;
  if (chunks > most) return {};
  const corpus = madeCorpus(chunks, dimension, 100);
  const index = await make(dimension, { index: "hnsw" });
  try {
    let [ingest, ingestCpu] = [0, 0];
    const spend = async (work: () => Promise<void>) => {
      const { wallSeconds, cpuSeconds } = await timed(work);
      ingest += wallSeconds;
      ingestCpu += cpuSeconds;
    };
    for (const write of corpus.writes(chunks)) await spend(() => index.write(write));
    await spend(index.finish!);
    const opening = performance.now();
    const [first] = await index.dense!(corpus.queries[0]!, 1);
    if (first === undefined) throw new Error("nothing is found");
    const openingMs = performance.now() - opening;
    const taken: number[] = [];
    for (const query of corpus.queries.slice(0, warmUps)) await index.hybrid!(query);
    for (const query of corpus.queries) {
      const asked = performance.now();
      await index.hybrid!(query);
      taken.push(performance.now() - asked);
    }
    const memory = (await index.weigh!(corpus.queries)).residentBytes / 1e6;
    const { cpuSeconds } = await timed(index.verify!);
    return {
      ingest,
      "ingest CPU": ingestCpu,
      memory,
      "memory beside vectors": memory / ((chunks * dimension * 4) / 1e6),
      disk: index.diskBytes!() / 1e6,
      opening: openingMs,
      "hybrid p50": percentile(taken, 0.5),
      "verify CPU": cpuSeconds,
    };
  } finally {
    await index.close?.();
  }
}
