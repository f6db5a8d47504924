import type Hnswlib from "hnswlib-node";
import { OptionsError, StoreError } from "../../../core/errors.js";
import { checkVector } from "../../database/vectors.js";
import type { Ranking } from "../../derived/top-k.js";
import { checkGraphFile } from "./graph-file.js";
import type { NativeCode } from "./native-code.js";
import type { GraphEngine, GraphParameters, SavedGraph, VectorGraph } from "./vector-graph.js";

export type HnswLibrary = typeof Hnswlib;

/** @param override another module to load in place of the library. */
export async function loadHnswLibrary(override?: string): Promise<HnswLibrary> {
  // Only the default import exists at run time, not the named ones that its types declare.
  const loaded = (await (override === undefined ? import("hnswlib-node") : import(override))) as {
    readonly default: HnswLibrary;
  };
  return loaded.default;
}

const maxLabel = 2 ** 32 - 1;
const firstCapacity = 1024;

/** Runs calls of the library; see `NativeCode`. */
type Native = Pick<NativeCode, "run" | "runAsync">;

const unguarded: Native = { run: (work) => work(), runAsync: (work) => work() };

/** Graphs of hnswlib-node, over vectors as 32-bit floats. */
export function hnswEngine(library: HnswLibrary, native: Native): GraphEngine {
  return {
    format: 1,
    extraCandidates: 0,
    readChecks: false,
    comparisonsPerResult: 2,
    create: (dimension, parameters) => HnswGraph.create(library, dimension, parameters, native),
    read: async (path, facts) => {
      await checkGraphFile(path, facts);
      return HnswGraph.read(library, path, facts, native);
    },
    check: checkGraphFile,
  };
}

/**
 * An HNSW graph by inner product over vectors of length 1. All arguments are checked here, because the library aborts the
 * process on a value that is not a number, accepts NaN, wraps large labels and overwrites existing ones.
 */
export class HnswGraph implements VectorGraph {
  readonly #graph: Hnswlib.HierarchicalNSW;
  readonly #native: Native;
  readonly #facts: { -readonly [Fact in keyof SavedGraph]: SavedGraph[Fact] };

  private constructor(graph: Hnswlib.HierarchicalNSW, { m, efConstruction, ef, ...facts }: SavedGraph, native: Native) {
    const { dimension, count, deleted, lastLabel } = facts;
    this.#graph = graph;
    this.#native = native;
    this.#facts = { m, efConstruction, ef, dimension, count, deleted, lastLabel };
  }

  static create(
    library: HnswLibrary,
    dimension: number,
    parameters: GraphParameters,
    native: Native = unguarded,
  ): HnswGraph {
    return native.run(() => {
      const graph = new library.HierarchicalNSW("ip", dimension);
      graph.initIndex(firstCapacity, parameters.m, parameters.efConstruction);
      return new HnswGraph(graph, { ...parameters, dimension, count: 0, deleted: 0, lastLabel: 0 }, native);
    });
  }

  /** Reads a graph that `write` wrote. The caller has checked the file, by its checksum and `checkGraphFile`. */
  static read(library: HnswLibrary, path: string, saved: SavedGraph, native: Native = unguarded): HnswGraph {
    return native.run(() => {
      // Always a new object: a failed read leaves a used one with a pointer to freed memory.
      const graph = new library.HierarchicalNSW("ip", saved.dimension);
      graph.readIndexSync(path);
      if (graph.getCurrentCount() !== saved.count) throw new Error(`${path} was not read completely`);
      return new HnswGraph(graph, saved, native);
    });
  }

  get dimension(): number {
    return this.#facts.dimension;
  }

  /** Number of elements, including deleted ones. */
  get count(): number {
    return this.#graph.getCurrentCount();
  }

  get deleted(): number {
    return this.#facts.deleted;
  }

  /** Sets how many candidates a search looks at. */
  setEf(ef: number): void {
    this.#facts.ef = ef;
  }

  /** The facts that `read` needs. */
  get saved(): SavedGraph {
    return { ...this.#facts, count: this.count };
  }

  /** Labels must ascend, so that none is added twice. */
  add(label: number, vector: Float32Array): void {
    checkVector(vector, this.dimension, `label ${label}`);
    const { lastLabel } = this.#facts;
    if (!Number.isInteger(label) || label <= lastLabel || label > maxLabel) {
      throw new StoreError("damaged", `Label ${label} is not a whole number above ${lastLabel} and up to ${maxLabel}`);
    }
    this.#native.run(() => {
      const capacity = this.#graph.getMaxElements();
      // Half as many again: resizing copies, and unused pages take no memory.
      if (this.count === capacity) this.#graph.resizeIndex(Math.ceil(capacity * 1.5));
      this.#graph.addPoint(Array.from(vector), label);
    });
    this.#facts.lastLabel = label;
  }

  /** Hides a label from all later searches. Returns false if it was not there. */
  remove(label: number): boolean {
    const isThere = this.#native.run(() => {
      try {
        this.#graph.markDelete(label);
        return true;
      } catch {
        return false;
      }
    });
    if (isThere) this.#facts.deleted++;
    return isThere;
  }

  /** The `count` nearest by cosine, best first; fewer when there are fewer. */
  search(vector: Float32Array, count: number, ef = this.#facts.ef): Ranking {
    checkVector(vector, this.dimension, "the query");
    if (!Number.isInteger(count) || count < 1) {
      throw new OptionsError("options", `count: expected a whole number of at least 1 (got ${count})`);
    }
    const wanted = Math.min(count, this.count - this.deleted);
    if (wanted === 0) return { labels: new Float64Array(0), scores: new Float64Array(0) };
    const { neighbors, distances } = this.#native.run(() => {
      // Set for each search: the library does not save it with the graph, and finds no more than ef.
      this.#graph.setEf(Math.max(ef, wanted));
      return this.#graph.searchKnn(Array.from(vector), wanted);
    });
    return { labels: Float64Array.from(neighbors), scores: Float64Array.from(distances, (distance) => 1 - distance) };
  }

  /**
   * Writes on a thread of the library: searches may go on meanwhile, additions and removals may not. The file may be
   * incomplete without an error, so `checkGraphFile` must follow.
   */
  async write(path: string): Promise<void> {
    await this.#native.runAsync(() => this.#graph.writeIndex(path));
  }

  async settle(): Promise<void> {}

  async close(): Promise<void> {}
}
