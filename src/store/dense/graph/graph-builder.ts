import { existsSync } from "node:fs";
import { asError } from "../../../core/errors.js";
import type { Database } from "../../../sqlite/database.js";
import { normalised } from "../../database/vectors.js";
import type { Allowed } from "../../derived/allowed-labels.js";
import { Changes, type VectorRow } from "../../derived/changes.js";
import { IndexUpdater } from "../../derived/index-updater.js";
import { isCurrent, loadIndex, saveIndex } from "../../derived/saved-index.js";
import { type Ranking, TopK } from "../../derived/top-k.js";
import { FilteredScan } from "./filtered-scan.js";
import { sampleVectors } from "../recall.js";
import { checkGraphFile, type GraphFacts, parseGraphFacts } from "./graph-file.js";
import type { GraphStart } from "./graph-messages.js";
import { type GraphParameters, HnswGraph, type HnswLibrary } from "./hnsw.js";
import type { NativeCode } from "./native-code.js";
import { isWorthPacking, savePacked, withUnpackedGraph } from "./packed-graph.js";
import { PendingVectors } from "./pending-vectors.js";
import { tuneEf } from "./tune-ef.js";

/** A parameter that the caller did not choose is that of the saved graph, or the default. Unless chosen, `ef` is tuned. */
export interface GraphBuilderOptions extends Pick<GraphStart, "folder" | "store" | "m" | "efConstruction" | "ef"> {
  readonly database: Database;
  readonly library: HnswLibrary;
  readonly onWarning: (message: string) => void;
  /** Called when so much was inserted since the last save that losing it would be costly. */
  readonly onUnsaved: () => void;
  readonly native: NativeCode;
}

/** Saving costs as much as the graph is large, and a few seconds of insertions can be lost. */
const maxUnsavedInsertions = (count: number) => Math.max(5000, count / 4);

/** How long vectors are inserted before the next search is answered: mostly one or two. */
const insertionSliceMs = 1;

/** Factor on the results fetched for a filter, as its chunks may lie apart from the others. */
const fetchMargin = 1.5;

/** Number of vectors that can be read and compared one by one while the graph fetches one. */
const comparisonsPerFetch = 2;

/** A smaller graph is searched in a millisecond with any `ef`. */
const minTunedCount = 10_000;

/** Vectors by which it is decided whether the saved file is packed. */
const packingSample = 64;

/** Keeps a graph up to date with a store, answers searches from both, and saves the graph. */
export class GraphBuilder {
  readonly #options: GraphBuilderOptions;
  readonly #changes: Changes;
  readonly #filteredScan: FilteredScan;
  readonly #parameters: GraphParameters;
  #updater: IndexUpdater<VectorRow>;
  #graph: HnswGraph | undefined;
  #pending: PendingVectors;
  #unsaved = 0;
  #changed = false;
  #tunedAt = 0;
  readonly #stopping = new AbortController();

  private constructor(options: GraphBuilderOptions, changes: Changes, parameters: GraphParameters) {
    this.#options = options;
    this.#changes = changes;
    this.#filteredScan = new FilteredScan(changes);
    this.#pending = new PendingVectors(changes);
    this.#parameters = parameters;
    this.#updater = this.#createUpdater();
  }

  /** Loads the saved graph if it is intact, of this store, and has the chosen parameters; else begins an empty one. */
  static async open(options: GraphBuilderOptions): Promise<GraphBuilder> {
    const { folder, library, native, onWarning } = options;
    const changes = new Changes(options.database);
    const loaded = await loadIndex(folder, "graph", parseGraphFacts);
    let refusal = loaded.outcome === "refused" ? loaded.reason : undefined;
    const saved = loaded.outcome === "loaded" ? loaded : undefined;
    const m = options.m ?? saved?.facts.m ?? 16;
    const efConstruction = options.efConstruction ?? saved?.facts.efConstruction ?? 200;
    const ef = options.ef ?? saved?.facts.ef ?? 200;
    const builder = new GraphBuilder(options, changes, { m, efConstruction, ef });
    if (saved) {
      const { facts, filePath } = saved;
      const asChosen = facts.m === m && facts.efConstruction === efConstruction;
      try {
        if (asChosen && isCurrent(facts, options.store, changes.head())) {
          const read = async (path: string) => {
            await checkGraphFile(path, facts);
            return native.run(() => HnswGraph.read(library, path, { ...facts, ef }));
          };
          builder.#graph = await (facts.format === 2 ? withUnpackedGraph(filePath, facts, read) : read(filePath));
          builder.#updater = builder.#createUpdater(facts.position);
          builder.#tunedAt = facts.tunedAt;
        }
      } catch (error) {
        refusal = asError(error).message;
      }
    }
    if (refusal !== undefined) {
      onWarning(`The saved graph cannot be used (${refusal}): it is built again from the store`);
    }
    return builder;
  }

  /** Reads in advance what the next search would otherwise wait for. */
  prepareSearch(): void {
    if (this.#graph) this.#pending.readAhead(this.#updater.position, this.#graph.dimension);
  }

  /** Resolves when the graph holds everything that was committed before the call, or the builder was stopped. */
  async catchUp(): Promise<void> {
    for (;;) {
      const updater = this.#updater;
      await updater.catchUp();
      if (this.#stopping.signal.aborted) return;
      // Every search passes through deleted elements: when they are the majority, building again is cheaper.
      const graph = this.#graph;
      if (updater === this.#updater && !(graph && graph.deleted > 1000 && graph.deleted * 2 > graph.count)) return;
      await updater.stop();
      if (updater === this.#updater) {
        this.#graph = undefined;
        this.#tunedAt = 0;
        this.#pending = new PendingVectors(this.#changes);
        this.#updater = this.#createUpdater();
      }
    }
  }

  /** The nearest of everything committed and allowed: vectors that the graph lacks are compared one by one. */
  search(vector: Float32Array, count: number, allowed?: Allowed): Ranking {
    const best = new TopK(allowed ? Math.min(count, allowed.size) : count);
    if (!this.#searchGraph(vector, count, best, allowed)) return this.#filteredScan.search(vector, count, allowed!);
    this.#pending.search({ vector, count, position: this.#updater.position, allowed }, best);
    return best.ranking();
  }

  /**
   * Offers at least the `count` nearest in the graph. The library's own filter would call a JavaScript function for every
   * vector that it visits, and abort the process if that throws. Instead more are fetched than wanted, and then filtered.
   *
   * @returns false, with nothing offered, when comparing all allowed vectors is cheaper or the only way to find enough.
   */
  #searchGraph(vector: Float32Array, count: number, best: TopK, allowed?: Allowed): boolean {
    const graph = this.#graph;
    if (!graph || graph.count === graph.deleted) return true;
    const removed = new Set(this.#changes.removalsAfter(this.#updater.position.removal).map(({ label }) => label));
    const living = graph.count - graph.deleted;
    // As many more as may have been removed, which are few: removals are applied as soon as they are seen.
    let fetched = Math.min(count, living) + removed.size;
    if (allowed) fetched = Math.ceil(fetchMargin * fetched * Math.max(1, living / Math.max(1, allowed.size)));
    for (;;) {
      if (allowed && fetched * comparisonsPerFetch > allowed.size) return false;
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
    await this.#updater.exclusively(async () => {
      const graph = this.#graph;
      if (!graph || !this.#changed || this.#stopping.signal.aborted) return;
      await this.#tune(graph);
      const { saved } = graph;
      const { position } = this.#updater;
      const format: GraphFacts["format"] = isWorthPacking(sampleVectors(this.#changes, packingSample)) ? 2 : 1;
      const facts = { format, store: this.#options.store, ...saved, tunedAt: this.#tunedAt, position };
      const write = async (path: string) => {
        await this.#options.native.runAsync(() => graph.write(path));
        if (!existsSync(path)) throw new Error(`${path} could not be written`);
        await checkGraphFile(path, saved);
      };
      await saveIndex(this.#options.folder, "graph", facts, (path) =>
        format === 2 ? savePacked(path, saved, write) : write(path),
      );
      this.#changed = false;
      this.#unsaved = 0;
    });
  }

  /** Tunes `ef` each time the graph has doubled: a larger graph needs a larger one. */
  async #tune(graph: HnswGraph): Promise<void> {
    const living = graph.count - graph.deleted;
    if (this.#options.ef !== undefined || living < Math.max(minTunedCount, 2 * this.#tunedAt)) return;
    const { native } = this.#options;
    const { signal } = this.#stopping;
    const upToLabel = this.#updater.position.label;
    try {
      graph.setEf(await tuneEf({ changes: this.#changes, graph, upToLabel, native, signal }));
      this.#tunedAt = living;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Resolves when the graph and the store are no longer used. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("The graph's thread is stopping"));
    await this.#updater.stop();
  }

  #createUpdater(from = { label: 0, removal: 0 }): IndexUpdater<VectorRow> {
    return new IndexUpdater<VectorRow>(
      this.#changes,
      {
        sliceMs: insertionSliceMs,
        read: (label, limit) => this.#changes.vectorsAfter(label, limit),
        add: (row) => this.#add(row),
        remove: (label) => {
          this.#pending.remove(label);
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
    this.#pending.remove(label);
    this.#changed = true;
    const savedCount = this.#graph!.count - ++this.#unsaved;
    if (this.#unsaved === Math.ceil(maxUnsavedInsertions(savedCount))) this.#options.onUnsaved();
  }
}
