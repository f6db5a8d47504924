import type { StoreProblem } from "../../core/ports.js";
import { vectorDecoder } from "../database/columns.js";
import type { Changes, JoinedVectorRow } from "../derived/changes.js";
import { IndexUpdater } from "../derived/index-updater.js";
import { TaskQueue } from "../derived/scheduling.js";
import type { Ranking } from "../derived/top-k.js";
import type { DenseConditions, DenseIndex } from "./dense-index.js";
import { FlatIndex } from "./flat/flat-index.js";
import { createRowBlock } from "./flat/row-block.js";
import { sparseBlock } from "./flat/sparse-block.js";
import { graphDense, type GraphDenseOptions } from "./graph/graph-dense.js";
import { savedGraphProblem } from "./graph/graph-file.js";
import { measureRecall } from "./recall.js";

export { FlatIndex } from "./flat/flat-index.js";
export { savedQuantization } from "./graph/graph-file.js";
export { loadHnswLibrary } from "./graph/hnsw.js";

export interface DenseOptions extends GraphDenseOptions {
  readonly index: "auto" | "hnsw" | "flat";
  /** With `auto`: number of chunks from which the graph is worth building. */
  readonly flatBelow: number;
}

/** Searches vectors by the index that suits their number: exactly while there are few, then by the graph. */
export class Dense {
  readonly #changes: Changes;
  readonly #options: DenseOptions;
  readonly #queue = new TaskQueue();
  #index: DenseIndex | undefined;
  #kind: "flat" | "hnsw" | undefined;
  /** Set when the graph is not wanted, or turned out not to work here. */
  #withoutGraph: boolean;

  constructor(changes: Changes, options: DenseOptions) {
    this.#changes = changes;
    this.#options = options;
    this.#withoutGraph = options.index === "flat";
  }

  async search(vector: Float32Array, count: number, conditions?: DenseConditions): Promise<Ranking> {
    const index = await this.#current();
    try {
      return await index.search(vector, count, conditions);
    } catch (error) {
      if (!index.failure()) throw error;
      return (await this.#current()).search(vector, count, conditions);
    }
  }

  /** Begins to catch up with the store, if searches are likely. Resolves when they need not wait for it any longer. */
  async prepare(): Promise<void> {
    await (await this.#current()).prepare();
  }

  async catchUp(): Promise<void> {
    await (await this.#current()).catchUp();
  }

  async save(): Promise<void> {
    await (await this.#current()).save();
  }

  async close(): Promise<void> {
    await this.#queue.run(async () => this.#index?.close());
  }

  /** The share of the exact ten nearest that searches find, for a sample of the store's vectors. */
  measureRecall(sample: number, signal?: AbortSignal): Promise<number | undefined> {
    return measureRecall(this.#changes, (vector, count) => this.search(vector, count), sample, signal);
  }

  /** The problem of the saved graph, if any. */
  savedProblem(): Promise<StoreProblem | undefined> {
    return savedGraphProblem(this.#options.folder, this.#options.store);
  }

  /** The index to use now, replaced first if another one suits better. */
  #current(): Promise<DenseIndex> {
    return this.#queue.run(async () => {
      const failure = this.#kind === "hnsw" ? this.#index?.failure() : undefined;
      if (failure) {
        this.#options.onWarning(
          `${failure.message}. Until then vectors are compared one by one, with the same results`,
        );
        this.#withoutGraph = true;
      }
      const kind = this.#suitableKind();
      if (this.#index && this.#kind === kind) return this.#index;
      await this.#index?.close();
      this.#index = kind === "hnsw" ? await this.#openGraph() : flatDense(this.#changes);
      this.#kind = this.#withoutGraph ? "flat" : kind;
      return this.#index;
    });
  }

  #suitableKind(): "flat" | "hnsw" {
    if (this.#withoutGraph) return "flat";
    // A graph stays in use: a number of chunks that varies around the limit must not build it again and again.
    if (this.#options.index === "hnsw" || this.#kind === "hnsw") return "hnsw";
    return this.#changes.chunkCount() < this.#options.flatBelow ? "flat" : "hnsw";
  }

  async #openGraph(): Promise<DenseIndex> {
    const graph = await graphDense(this.#options);
    if ("search" in graph) return graph;
    this.#withoutGraph = true;
    this.#options.onWarning(
      `${graph.reason.split("\n")[0]}: vectors are compared one by one, which is exact, but slower from about 100,000 chunks on`,
    );
    return flatDense(this.#changes);
  }
}

/** 256 vectors of 1,024 dimensions are a megabyte, which takes about a millisecond to read. */
const rowsPerRead = 256;

/** Exact search on this thread. Nothing is saved: reading the vectors again takes as long as reading a file of them. */
function flatDense(changes: Changes): DenseIndex {
  let index: FlatIndex | undefined;
  const decoded = vectorDecoder();
  let isOpening = true;
  let isSearched = false;
  const updater = new IndexUpdater<JoinedVectorRow>(changes, {
    rowsPerRead,
    read: (label, limit) => changes.storedVectorsAfter(label, limit),
    add: ({ label, data, start, end }) => {
      const vector = decoded(data, start, end);
      // The model decides whether vectors are mostly zeros, so the first one speaks for all.
      index ??= new FlatIndex(vector.length, vector instanceof Float32Array ? createRowBlock : sparseBlock);
      index.add(label, vector);
    },
    remove: (label) => index?.remove(label),
  });
  return {
    failure: () => undefined,
    search: async (vector, count, { allowed, upTo } = {}) => {
      isSearched = true;
      await updater.catchUp(upTo);
      return index
        ? index.search(vector, count, allowed)
        : { labels: new Float64Array(0), scores: new Float64Array(0) };
    },
    // A question probably follows the opening. Where none came yet, as in an ingest, nothing that is written is read back.
    prepare: async () => {
      if (isOpening || isSearched) await updater.catchUp();
      isOpening = false;
    },
    // What is not saved need not be complete: a command that searches no vectors does not read them all before it ends.
    catchUp: async () => {},
    save: async () => {},
    close: () => updater.stop(),
  };
}
