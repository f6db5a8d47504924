import type { Filter } from "citewell";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { searchContenders } from "./search/contenders.js";
import type { SearchSubject } from "./search/search-index.js";
import { type Asked, madeCorpus } from "./shared/made-corpus.js";
import { percentile } from "./shared/percentile.js";

const questionCount = 200;
/** Questions before each kind of search is timed. */
const warmUps = 50;
const k = 10;
const filters = { "50 %": { half: 1 }, "1 %": { hundredth: 1 } } as const;

/** The ids of the exact nearest chunks of each question. */
type Given = readonly (readonly string[])[];

export const benchmark: Benchmark<SearchSubject, Given> = {
  name: "search",
  question: "How fast is a collection indexed and searched, what is found of what is nearest, and what does that hold?",
  method:
    "Chunks of 150 made words after Zipf's law, with vectors around topics in 40 directions, because no index can rank evenly " +
    "spread ones, and 200 questions like them, one after another, the first 50 of them once before. Every contender writes all, opens again where it keeps " +
    "files, and searches, each in its own process. Dense is the ten nearest, whose recall is against exact search; for graphs " +
    "whose number of candidates (ef) is the user's to choose, the least of 10, 20, 40 … that finds 95 %, and citewell's own is tuned by itself. " +
    "Hybrid is the search stage with 40 hits and their texts. Memory is what the process that searches " +
    "holds beyond an empty one, × the raw vectors; of libraries that keep all in memory it includes what building left. " +
    "The plain loop is exact search as one would write it; any has to read memory, a byte for each number of 8 bits. Peers have their defaults and no more than the measures shown; their writes are not safe against a crash, citewell's are.",
  contenders: searchContenders,
  beside: "hnswlib-node, bare",
  measures: {
    written: { unit: "chunks/s", better: "higher" },
    "written by CPU": { unit: "chunks/CPU s", better: "higher" },
    "first answer": { unit: "ms", better: "lower" },
    "dense p50": { unit: "ms", better: "lower" },
    "recall@10": { unit: "share", better: "higher" },
    "words p50": { unit: "ms", better: "lower" },
    "hybrid p50": { unit: "ms", better: "lower" },
    "hybrid p95": { unit: "ms", better: "lower" },
    ...Object.fromEntries(
      Object.keys(filters).map((share) => [`hybrid p50, filter of ${share}`, { unit: "ms", better: "lower" } as const]),
    ),
    "hybrid p50 while written": { unit: "ms", better: "lower" },
    memory: { unit: "× raw vectors", better: "lower" },
    disk: { unit: "× raw vectors", better: "lower" },
    verified: { unit: "MB/CPU s", better: "higher" },
  },
  sizes: { smoke: { chunks: 500, dimension: 64 }, usual: { chunks: 5000, dimension: 1024 } },
  rounds: 2,
  aims: aimsOf("search"),
  prepare: async ({ chunks = 0, dimension = 0 }) => ({ given: exactNearest(chunks, dimension) }),
  measure: measureSearching,
};

async function measureSearching(subject: SearchSubject, { size, given, timed }: RunContext<Given>) {
  const { chunks = 0, dimension = 0 } = size;
  if ("denseMs" in subject) return { "dense p50": percentile(subject.denseMs(chunks, dimension, questionCount), 0.5) };
  const corpus = madeCorpus(chunks, dimension, questionCount);
  const rawBytes = chunks * dimension * 4;
  const measures: Record<string, number> = {};
  const index = await subject.make(dimension);
  try {
    let [wallSeconds, cpuSeconds] = [0, 0];
    const spend = async (work: () => Promise<void>) => {
      const spent = await timed(work);
      wallSeconds += spent.wallSeconds;
      cpuSeconds += spent.cpuSeconds;
    };
    // Made beforehand in parts, so that making texts and vectors is not measured.
    for (const write of corpus.writes(chunks)) await spend(() => index.write(write));
    await spend(() => index.finish?.() ?? Promise.resolve());
    measures["written"] = chunks / wallSeconds;
    measures["written by CPU"] = chunks / cpuSeconds;

    const durations = async (ask: (query: Asked) => Promise<unknown>) => {
      const taken: number[] = [];
      for (const query of corpus.queries.slice(0, warmUps)) await ask(query);
      await timed(async () => {
        for (const query of corpus.queries) {
          const startedAt = performance.now();
          await ask(query);
          taken.push(performance.now() - startedAt);
        }
      });
      return taken;
    };
    const { dense, words, hybrid } = index;
    if (dense) {
      const first = performance.now();
      await dense(corpus.queries[0]!, k);
      if (index.reopens) measures["first answer"] = performance.now() - first;
      for (const ef of index.setEf ? [10, 20, 40, 80, 160, 320, 640] : [undefined]) {
        if (ef !== undefined) index.setEf!(ef);
        const found: (readonly string[])[] = [];
        measures["dense p50"] = percentile(await durations(async (query) => found.push(await dense(query, k))), 0.5);
        measures["recall@10"] = recallOf(found.slice(-questionCount), given);
        if (measures["recall@10"] >= 0.95) break;
      }
      if (measures["recall@10"]! < 0.5) throw new Error(`it finds ${measures["recall@10"]} of the nearest chunks`);
    }
    if (words) measures["words p50"] = percentile(await durations((query) => words(query, k)), 0.5);
    if (hybrid) {
      const taken = await durations((query) => hybrid(query));
      measures["hybrid p50"] = percentile(taken, 0.5);
      measures["hybrid p95"] = percentile(taken, 0.95);
      for (const [share, metadata] of Object.entries(filters)) {
        const filter: Filter = { metadata };
        measures[`hybrid p50, filter of ${share}`] = percentile(await durations((query) => hybrid(query, filter)), 0.5);
      }
    }
    if (index.weigh) {
      const { residentBytes, emptyBytes } = await index.weigh(corpus.queries);
      measures["memory"] = (residentBytes - emptyBytes) / rawBytes;
    }
    if (index.diskBytes) measures["disk"] = index.diskBytes() / rawBytes;
    if (index.verify) {
      const { cpuSeconds: checking } = await timed(index.verify);
      measures["verified"] = index.diskBytes!() / 1e6 / checking;
    }
    if (hybrid) {
      // Written last, because these chunks are not among those whose nearest are known.
      const more = Array.from(corpus.writes(Math.ceil(chunks / 5), "added"));
      measures["hybrid p50 while written"] = await whileWriting(index.write, hybrid, more, corpus.queries);
    }
    return measures;
  } finally {
    await index.close?.();
  }
}

/** Asks one question after another, with 20 ms between them, for as long as there is something to write. */
async function whileWriting<Write>(
  write: (write: Write) => Promise<void>,
  ask: (query: Asked) => Promise<unknown>,
  writes: readonly Write[],
  queries: readonly Asked[],
): Promise<number> {
  const written = new AbortController();
  const writing = (async () => {
    for (const each of writes) await write(each);
    written.abort();
  })();
  const taken: number[] = [];
  for (let at = 0; !written.signal.aborted || at === 0; at++) {
    const startedAt = performance.now();
    await ask(queries[at % queries.length]!);
    taken.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await writing;
  return percentile(taken, 0.5);
}

/** Finds the nearest vectors the slow, obvious way. */
function exactNearest(chunks: number, dimension: number): Given {
  const { queries, writes } = madeCorpus(chunks, dimension, questionCount);
  const best = queries.map(() => [] as { readonly id: string; readonly similarity: number }[]);
  const questions = queries.map(({ vector }) => vector);
  for (const { documents, vectors } of writes(chunks)) {
    const made = vectors.values();
    for (const { id } of documents.flatMap((each) => each.chunks)) {
      const vector = made.next().value!;
      const scale = 1 / Math.sqrt(dot(vector, vector));
      for (const [at, question] of questions.entries()) {
        const similarity = dot(question, vector) * scale;
        const nearest = best[at]!;
        if (nearest.length === k && similarity <= nearest.at(-1)!.similarity) continue;
        nearest.push({ id, similarity });
        nearest.sort((one, other) => other.similarity - one.similarity);
        nearest.length = Math.min(k, nearest.length);
      }
    }
  }
  return best.map((nearest) => nearest.map(({ id }) => id));
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at]! * right[at]!;
  return sum;
}

function recallOf(found: readonly (readonly string[])[], exact: Given): number {
  const shared = found.map((ids, at) => ids.filter((id) => exact[at]!.includes(id)).length);
  return shared.reduce((sum, count) => sum + count, 0) / (k * found.length);
}
