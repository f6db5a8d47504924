import type { StoreProblem } from "../../core/ports.js";
import type { Changes } from "../derived/changes.js";
import { discardIndex } from "../derived/saved-index.js";
import { TaskQueue } from "../derived/scheduling.js";
import type { Ranking } from "../derived/top-k.js";
import type { DenseConditions, DenseIndex } from "./dense-index.js";
import { savedColumnsProblem } from "./flat/column-file.js";
import { flatDense } from "./flat/flat-dense.js";
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
  /** Set when the graph is turned off, or turned out not to work here. */
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

  /** Whether `save` has something to save although nothing was written. */
  async isUnsaved(): Promise<boolean> {
    return (await this.#current()).isUnsaved();
  }

  async save(): Promise<void> {
    await (await this.#current()).save();
    // No later call would bring it up to date.
    if (this.#kind === "hnsw") await discardIndex(this.#options.folder, "flat");
  }

  async close(): Promise<void> {
    await this.#queue.run(async () => this.#index?.close());
  }

  /** The share of the exact ten nearest that searches find, for a sample of the store's vectors. */
  measureRecall(sample: number, signal?: AbortSignal): Promise<number | undefined> {
    return measureRecall(this.#changes, (vector, count) => this.search(vector, count), sample, signal);
  }

  /** The problems of the saved graph and of the saved vectors. */
  async savedProblems(): Promise<readonly StoreProblem[]> {
    const { folder, store } = this.#options;
    const problems = await Promise.all([savedGraphProblem(folder, store), savedColumnsProblem(folder, store)]);
    return problems.filter((problem) => problem !== undefined);
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
      this.#index = kind === "hnsw" ? await this.#openGraph() : await flatDense(this.#changes, this.#options);
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
    return flatDense(this.#changes, this.#options);
  }
}
