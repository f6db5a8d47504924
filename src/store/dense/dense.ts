import type { Changes } from "../changes.js";
import { Serial } from "../serial.js";
import type { Ranking } from "../top-k.js";
import type { DenseConditions, DenseIndex } from "./dense-index.js";
import { flatDense } from "./flat-dense.js";
import { graphDense, type GraphDenseOptions } from "./graph-dense.js";

export interface DenseOptions extends GraphDenseOptions {
  readonly index: "auto" | "hnsw" | "flat";
  /** `auto`: from so many chunks on the graph is worth its building. */
  readonly flatBelow: number;
}

/** Searches vectors by the index that fits: exactly while there are few, by the graph when there are many. */
export class Dense {
  readonly #changes: Changes;
  readonly #options: DenseOptions;
  readonly #serial = new Serial();
  #index: DenseIndex | undefined;
  #kind: "flat" | "hnsw" | undefined;
  /** Set when the graph turned out not to work here. */
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

  /** Begins to take over what was committed. Resolves when a search for it has nothing more to wait for. */
  async followAhead(): Promise<void> {
    await (await this.#current()).followAhead();
  }

  async follow(): Promise<void> {
    await (await this.#current()).follow();
  }

  async save(): Promise<void> {
    await (await this.#current()).save();
  }

  async close(): Promise<void> {
    await this.#serial.run(async () => this.#index?.close());
  }

  /** The index to use now, changed first where another one fits better. */
  #current(): Promise<DenseIndex> {
    return this.#serial.run(async () => {
      const failure = this.#kind === "hnsw" ? this.#index?.failure() : undefined;
      if (failure) {
        this.#options.onWarning(`${failure.message}. Until then vectors are searched one by one, which finds the same`);
        this.#withoutGraph = true;
      }
      const kind = this.#fitting();
      if (this.#index && this.#kind === kind) return this.#index;
      await this.#index?.close();
      this.#index = kind === "hnsw" ? await this.#graph() : flatDense(this.#changes);
      this.#kind = this.#withoutGraph ? "flat" : kind;
      return this.#index;
    });
  }

  #fitting(): "flat" | "hnsw" {
    if (this.#withoutGraph) return "flat";
    // A graph that was begun is kept: chunks that come and go around the limit must not build it again and again.
    if (this.#options.index === "hnsw" || this.#kind === "hnsw") return "hnsw";
    return this.#changes.chunkCount() < this.#options.flatBelow ? "flat" : "hnsw";
  }

  async #graph(): Promise<DenseIndex> {
    const graph = await graphDense(this.#options);
    if ("search" in graph) return graph;
    this.#withoutGraph = true;
    this.#options.onWarning(
      `${graph.reason.split("\n")[0]}: vectors are searched one by one, which is exact, and slower from about 100,000 chunks on`,
    );
    return flatDense(this.#changes);
  }
}
