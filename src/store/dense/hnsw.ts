import type Hnswlib from "hnswlib-node";
import { OptionsError, StoreError } from "../../errors.js";
import type { Ranking } from "../top-k.js";
import { checkVector } from "../vectors.js";

export interface GraphParameters {
  readonly m: number;
  readonly efConstruction: number;
  readonly ef: number;
}

export type HnswLibrary = typeof Hnswlib;

/** `override` names another module to load in its place. */
export async function loadHnswLibrary(override?: string): Promise<HnswLibrary> {
  // The named imports that its types promise do not exist at run time: only the default one does.
  const loaded = (await (override === undefined ? import("hnswlib-node") : import(override))) as {
    readonly default: HnswLibrary;
  };
  return loaded.default;
}

const greatestLabel = 2 ** 32 - 1;
const firstCapacity = 1024;

/**
 * An HNSW graph by inner product over vectors of length 1. Everything that the library would take on trust is checked
 * here: it aborts the process on what is no number, accepts NaN, wraps labels and overwrites those that exist.
 */
export class HnswGraph {
  readonly #graph: Hnswlib.HierarchicalNSW;
  readonly #dimension: number;
  #parameters: GraphParameters;
  #lastLabel: number;
  #deleted: number;

  private constructor(
    graph: Hnswlib.HierarchicalNSW,
    dimension: number,
    parameters: GraphParameters,
    lastLabel = 0,
    deleted = 0,
  ) {
    this.#graph = graph;
    this.#dimension = dimension;
    this.#parameters = parameters;
    this.#lastLabel = lastLabel;
    this.#deleted = deleted;
  }

  static create(library: HnswLibrary, dimension: number, parameters: GraphParameters): HnswGraph {
    const graph = new library.HierarchicalNSW("ip", dimension);
    graph.initIndex(firstCapacity, parameters.m, parameters.efConstruction);
    return new HnswGraph(graph, dimension, parameters);
  }

  /** A graph that `write` wrote. The caller has checked that the file holds it: `checkGraphFile` and a checksum. */
  static read(library: HnswLibrary, path: string, saved: SavedGraph): HnswGraph {
    // Always a fresh object: a read that fails leaves an object that was in use with a pointer to freed memory.
    const graph = new library.HierarchicalNSW("ip", saved.dimension);
    graph.readIndexSync(path);
    if (graph.getCurrentCount() !== saved.count) throw new Error(`${path} was not read whole`);
    return new HnswGraph(graph, saved.dimension, saved, saved.lastLabel, saved.deleted);
  }

  get dimension(): number {
    return this.#dimension;
  }

  /** Elements, the deleted ones included. */
  get count(): number {
    return this.#graph.getCurrentCount();
  }

  get deleted(): number {
    return this.#deleted;
  }

  /** Candidates that a search looks at from now on. */
  setEf(ef: number): void {
    this.#parameters = { ...this.#parameters, ef };
  }

  /** What is needed to read it again. */
  get saved(): SavedGraph {
    return {
      ...this.#parameters,
      dimension: this.#dimension,
      count: this.count,
      deleted: this.#deleted,
      lastLabel: this.#lastLabel,
    };
  }

  /** Labels come in rising order, so that none comes twice. */
  add(label: number, vector: Float32Array): void {
    checkVector(vector, this.#dimension, `label ${label}`);
    if (!Number.isInteger(label) || label <= this.#lastLabel || label > greatestLabel) {
      throw new StoreError(
        "damaged",
        `Label ${label} is no whole number above ${this.#lastLabel} and up to ${greatestLabel}`,
      );
    }
    const capacity = this.#graph.getMaxElements();
    // Pages that nothing was written to take no memory; resizing copies, so it is done by halves.
    if (this.count === capacity) this.#graph.resizeIndex(Math.ceil(capacity * 1.5));
    this.#graph.addPoint(Array.from(vector), label);
    this.#lastLabel = label;
  }

  /** Takes a label out of all later answers; false if it was not in them. */
  remove(label: number): boolean {
    try {
      this.#graph.markDelete(label);
    } catch {
      return false;
    }
    this.#deleted++;
    return true;
  }

  /** The `count` nearest by cosine, best first; fewer when there are fewer. */
  search(vector: Float32Array, count: number, ef = this.#parameters.ef): Ranking {
    checkVector(vector, this.#dimension, "the query");
    if (!Number.isInteger(count) || count < 1) {
      throw new OptionsError("options", `count: expected a whole number from 1 on (got ${count})`);
    }
    const wanted = Math.min(count, this.count - this.#deleted);
    if (wanted === 0) return { labels: new Float64Array(0), scores: new Float64Array(0) };
    // Not saved with the graph and 10 in a new one, so it is set each time; a search cannot find more than ef.
    this.#graph.setEf(Math.max(ef, wanted));
    const { neighbors, distances } = this.#graph.searchKnn(Array.from(vector), wanted);
    return { labels: Float64Array.from(neighbors), scores: Float64Array.from(distances, (distance) => 1 - distance) };
  }

  /**
   * Writes on a thread of the library's own: searches may go on meanwhile, additions and removals may not. Even then the
   * file may not be whole: `checkGraphFile` tells.
   */
  async write(path: string): Promise<void> {
    await this.#graph.writeIndex(path);
  }
}

export interface SavedGraph extends GraphParameters {
  readonly dimension: number;
  readonly count: number;
  readonly deleted: number;
  readonly lastLabel: number;
}
