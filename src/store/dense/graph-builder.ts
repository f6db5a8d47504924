import { existsSync } from "node:fs";
import { asError } from "../../errors.js";
import type { Allowed } from "../allowed-labels.js";
import { Changes, type VectorRow } from "../changes.js";
import type { Database } from "../../sqlite/database.js";
import { Follower } from "../follower.js";
import { loadGeneration, saveGeneration } from "../generation.js";
import { type Ranking, TopK } from "../top-k.js";
import { normalised } from "../vectors.js";
import { ExactAmong } from "./exact-among.js";
import { graphFacts } from "./graph-facts.js";
import { type GraphParameters, HnswGraph, type HnswLibrary } from "./hnsw.js";
import { checkGraphFile } from "./hnsw-file.js";
import type { NativeCode } from "./native-code.js";
import { tunedEf } from "./tuned-ef.js";
import { WaitingVectors } from "./waiting-vectors.js";

const name = "graph";

export interface GraphBuilderOptions {
  readonly database: Database;
  readonly folder: string;
  readonly store: string;
  /** What was asked for; what was not is taken from the saved graph, then from the defaults. Unless asked for, `ef` is tuned. */
  readonly parameters: Partial<GraphParameters>;
  readonly library: HnswLibrary;
  readonly onWarning: (message: string) => void;
  /** Called when so much was inserted since the last save that losing it would cost. */
  readonly onUnsaved: () => void;
  readonly native: NativeCode;
}

/** Twice: what is inserted in a few seconds need not be saved at once, and saving costs as much as the graph is large. */
const unsavedInsertions = (count: number) => Math.max(5000, count / 4);

/** For which vectors are inserted before the next question is answered: mostly one or two. */
const insertionSliceMs = 1;

/** Fetched of what a filter is expected to let through, as its chunks may lie elsewhere than the others. */
const moreThanExpected = 1.5;

/** Vectors that are read and compared one by one in the time that the graph takes to fetch one. */
const fetchingToComparing = 2;

/** A graph of so many is searched in a millisecond by any `ef`. */
const tunedFrom = 10_000;

/** Keeps a graph level with a store, answers from both, and saves it. */
export class GraphBuilder {
  readonly #options: GraphBuilderOptions;
  readonly #changes: Changes;
  readonly #among: ExactAmong;
  readonly #parameters: GraphParameters;
  #follower: Follower<VectorRow>;
  #graph: HnswGraph | undefined;
  #waiting: WaitingVectors;
  #unsaved = 0;
  #changed = false;
  #tunedAt = 0;
  readonly #stopping = new AbortController();

  private constructor(options: GraphBuilderOptions, changes: Changes, parameters: GraphParameters) {
    this.#options = options;
    this.#changes = changes;
    this.#among = new ExactAmong(changes);
    this.#waiting = new WaitingVectors(changes);
    this.#parameters = parameters;
    this.#follower = this.#follow();
  }

  /** Loads the saved graph if it is whole, of this store and built as asked; else begins an empty one. */
  static async open(options: GraphBuilderOptions): Promise<GraphBuilder> {
    const changes = new Changes(options.database);
    const loaded = await loadGeneration(options.folder, name, graphFacts);
    let refusal = loaded.outcome === "refused" ? loaded.reason : undefined;
    const generation = loaded.outcome === "loaded" ? loaded.generation : undefined;
    const defaults = { m: 16, efConstruction: 200, ef: 200 };
    const parameters = { ...defaults, ...pick(generation?.facts), ...options.parameters };
    const builder = new GraphBuilder(options, changes, parameters);
    if (generation) {
      const { facts, filePath } = generation;
      const head = changes.head();
      const usable =
        facts.store === options.store &&
        facts.m === parameters.m &&
        facts.efConstruction === parameters.efConstruction &&
        facts.position.label <= head.label &&
        facts.position.removal <= head.removal;
      try {
        if (usable) {
          await checkGraphFile(filePath, facts);
          const saved = { ...facts, ef: parameters.ef };
          builder.#graph = options.native.run(() => HnswGraph.read(options.library, filePath, saved));
          builder.#follower = builder.#follow(facts.position);
          builder.#tunedAt = facts.tunedAt;
        }
      } catch (error) {
        refusal = asError(error).message;
      }
    }
    if (refusal !== undefined) {
      options.onWarning(`The saved graph cannot be used (${refusal}): it is built again from the store`);
    }
    return builder;
  }

  /** Prepares for the next question, which must not wait for what can be done before it comes. */
  prepare(): void {
    if (this.#graph) this.#waiting.readAhead(this.#follower.position, this.#graph.dimension);
  }

  /** Resolves when the graph holds all that was committed before the call, or the builder was stopped. */
  async follow(): Promise<void> {
    for (;;) {
      const follower = this.#follower;
      await follower.follow();
      if (this.#stopping.signal.aborted) return;
      // Deleted elements are walked through at every search: past half, building again is cheaper than carrying them.
      const graph = this.#graph;
      if (follower === this.#follower && !(graph && graph.deleted > 1000 && graph.deleted * 2 > graph.count)) return;
      await follower.stop();
      if (follower === this.#follower) {
        this.#graph = undefined;
        this.#tunedAt = 0;
        this.#waiting = new WaitingVectors(this.#changes);
        this.#follower = this.#follow();
      }
    }
  }

  /** The nearest of all that is committed and allowed: what the graph lacks yet is compared one by one. */
  search(vector: Float32Array, count: number, allowed?: Allowed): Ranking {
    const best = new TopK(allowed ? Math.min(count, allowed.size) : count);
    if (allowed && !this.#searchGraph(vector, count, best, allowed)) return this.#among.search(vector, count, allowed);
    if (!allowed) this.#searchGraph(vector, count, best);
    this.#waiting.search({ vector, count, position: this.#follower.position, allowed }, best);
    return best.ranking();
  }

  /**
   * Offers the `count` nearest in the graph, or all there are. The library's own filter is a function of ours that it
   * calls for every vector on its way, and a process that ends if it throws; so more are fetched than are wanted.
   *
   * @returns false when comparing all that are allowed is the cheaper or the only way to find enough; nothing was offered.
   */
  #searchGraph(vector: Float32Array, count: number, best: TopK, allowed?: Allowed): boolean {
    const graph = this.#graph;
    if (!graph || graph.count === graph.deleted) return true;
    const removed = new Set(
      this.#changes.removalsAfter(this.#follower.position.removal).map((removal) => removal.label),
    );
    const living = graph.count - graph.deleted;
    // As many more as may be removed, of which there are few: removals are taken over as soon as they are seen.
    let fetched = Math.min(count, living) + removed.size;
    if (allowed) fetched = Math.ceil(moreThanExpected * fetched * Math.max(1, living / Math.max(1, allowed.size)));
    for (;;) {
      if (allowed && fetched * fetchingToComparing > allowed.size) return false;
      const { labels, scores } = this.#options.native.run(() => graph.search(vector, fetched));
      const kept = Array.from(labels.keys()).filter(
        (at) => !removed.has(labels[at]!) && (!allowed || allowed.has(labels[at]!)),
      );
      if (allowed && kept.length < Math.min(count, allowed.size) && labels.length < living) {
        fetched *= 2;
        continue;
      }
      for (const at of kept) best.offer(labels[at]!, scores[at]!);
      return true;
    }
  }

  async save(): Promise<void> {
    await this.#follower.exclusively(async () => {
      const graph = this.#graph;
      if (!graph || !this.#changed || this.#stopping.signal.aborted) return;
      await this.#tune(graph);
      const { saved } = graph;
      const { position } = this.#follower;
      const facts = { format: 1, store: this.#options.store, ...saved, tunedAt: this.#tunedAt, position };
      await saveGeneration(
        this.#options.folder,
        name,
        facts,
        async (path) => {
          await this.#options.native.runAside(() => graph.write(path));
          if (!existsSync(path)) throw new Error(`${path} could not be written`);
        },
        (path) => checkGraphFile(path, saved),
      );
      this.#changed = false;
      this.#unsaved = 0;
    });
  }

  /** With every doubling of the graph: what finds enough of a small one does not of a large one. */
  async #tune(graph: HnswGraph): Promise<void> {
    const living = graph.count - graph.deleted;
    if (this.#options.parameters.ef !== undefined || living < Math.max(tunedFrom, 2 * this.#tunedAt)) return;
    const { native } = this.#options;
    const { signal } = this.#stopping;
    const upToLabel = this.#follower.position.label;
    try {
      graph.setEf(await tunedEf({ changes: this.#changes, graph, upToLabel, native, signal }));
      this.#tunedAt = living;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Resolves when nothing touches the graph or the store any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("The graph's thread is stopping"));
    await this.#follower.stop();
  }

  #follow(from = { label: 0, removal: 0 }): Follower<VectorRow> {
    return new Follower<VectorRow>(
      this.#changes,
      {
        sliceMs: insertionSliceMs,
        read: (label, limit) => this.#changes.vectorsAfter(label, limit),
        add: (row) => this.#add(row),
        remove: (label) => {
          this.#waiting.remove(label);
          if (this.#options.native.run(() => this.#graph?.remove(label))) this.#changed = true;
        },
      },
      from,
    );
  }

  #add({ label, vector }: VectorRow): void {
    this.#options.native.run(() => {
      this.#graph ??= HnswGraph.create(this.#options.library, vector.length, this.#parameters);
      this.#graph.add(label, normalised(vector));
    });
    this.#waiting.remove(label);
    this.#changed = true;
    if (++this.#unsaved === Math.ceil(unsavedInsertions(this.#graph!.count - this.#unsaved))) this.#options.onUnsaved();
  }
}

function pick(facts: GraphParameters | undefined): Partial<GraphParameters> {
  return facts ? { m: facts.m, efConstruction: facts.efConstruction, ef: facts.ef } : {};
}
