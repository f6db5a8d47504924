import { existsSync } from "node:fs";
import { asError } from "../../../core/errors.js";
import type { Database } from "../../../sqlite/database.js";
import { cosine, normalised } from "../../database/vectors.js";
import type { Allowed } from "../../derived/allowed-labels.js";
import { Changes, type VectorRow } from "../../derived/changes.js";
import { IndexUpdater } from "../../derived/index-updater.js";
import { isCurrent, loadIndex, saveIndex } from "../../derived/saved-index.js";
import { type Ranking, TopK } from "../../derived/top-k.js";
import { FilteredScan } from "./filtered-scan.js";
import { type GraphFacts, parseGraphFacts } from "./graph-file.js";
import type { GraphStart } from "./graph-messages.js";
import { PendingVectors } from "./pending-vectors.js";
import { tuneEf } from "./tune-ef.js";
import type { GraphEngine, GraphParameters, VectorGraph } from "./vector-graph.js";

/** A parameter that the caller did not choose is that of the saved graph, or the default. Unless chosen, `ef` is tuned. */
export interface GraphBuilderOptions extends Pick<GraphStart, "folder" | "store" | "m" | "efConstruction" | "ef"> {
  readonly database: Database;
  readonly engine: GraphEngine;
  readonly onWarning: (message: string) => void;
  /** Called when the insertions since the last save would be costly to lose. */
  readonly onUnsaved: () => void;
}

/** Saving costs as much as the graph is large, and a few seconds of insertions can be lost. */
const maxUnsavedInsertions = (count: number) => Math.max(5000, count / 4);

/** How long vectors are inserted before the next search is answered: mostly one or two. */
const insertionSliceMs = 1;

/** Factor on the results fetched for a filter, as its chunks may lie apart from the others. */
const fetchMargin = 1.5;

/**
 * Twice the links of a vector in the lowest layer. Comparing with these candidates is most of the work of building a graph, and more
 * of them hardly make it better: the README of `quantized/` has the figures.
 */
const defaultEfConstruction = 64;

/** Minimum candidates of a walk per requested result: a walk that stops at the requested count misses near ones. */
const walkMargin = 2;

/** A smaller graph is searched in a millisecond with any `ef`. */
const minTunedCount = 10_000;

/** Keeps a graph up to date with a store, answers searches from both, and saves the graph. */
export class GraphBuilder {
  readonly #options: GraphBuilderOptions;
  readonly #changes: Changes;
  readonly #filteredScan: FilteredScan;
  readonly #parameters: GraphParameters;
  #updater: IndexUpdater<VectorRow>;
  #graph: VectorGraph | undefined;
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
    const { folder, engine, onWarning } = options;
    const changes = new Changes(options.database);
    const loaded = await loadIndex(folder, "graph", parseGraphFacts, engine.readChecks ? "sizes" : "checksums");
    let refusal = loaded.outcome === "refused" ? loaded.reason : undefined;
    const saved = loaded.outcome === "loaded" ? loaded : undefined;
    const m = options.m ?? saved?.facts.m ?? 16;
    const efConstruction = options.efConstruction ?? saved?.facts.efConstruction ?? defaultEfConstruction;
    const ef = options.ef ?? saved?.facts.ef ?? 200;
    const builder = new GraphBuilder(options, changes, { m, efConstruction, ef });
    if (saved) {
      const { facts, filePath, sha256 } = saved;
      const isReadable = facts.format === engine.format || facts.format === engine.alsoReads;
      const asChosen = isReadable && facts.m === m && facts.efConstruction === efConstruction;
      try {
        if (asChosen && isCurrent(facts, options.store, changes.head())) {
          builder.#graph = await engine.read(filePath, { ...facts, ef }, sha256);
          builder.#updater = builder.#createUpdater(facts.position);
          // Another form of the vectors may need another `ef`, which is tuned when the graph is saved in that form.
          builder.#changed = facts.format !== engine.format;
          builder.#tunedAt = builder.#changed ? 0 : facts.tunedAt;
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
      await updater.exclusively(async () => this.#graph?.settle());
      // Every search passes through deleted elements: when they are the majority, building again is cheaper.
      const graph = this.#graph;
      if (updater === this.#updater && !(graph && graph.deleted > 1000 && graph.deleted * 2 > graph.count)) return;
      await updater.stop();
      if (updater === this.#updater) {
        // All at once: another call that waited here, too, must find either all of the old graph or all of the new one.
        this.#graph = undefined;
        this.#tunedAt = 0;
        this.#pending = new PendingVectors(this.#changes);
        this.#updater = this.#createUpdater();
        await graph?.close();
      }
    }
  }

  /** The nearest of everything committed and allowed: vectors that the graph lacks are compared one by one. */
  search(vector: Float32Array, count: number, allowed?: Allowed): Ranking {
    const best = new TopK(allowed ? Math.min(count, allowed.size) : count);
    const nearest = this.#nearestInGraph(vector, count, allowed);
    if (!nearest) return this.#filteredScan.search(vector, count, allowed!);
    this.#offer(vector, nearest, best);
    this.#pending.search({ vector, count, position: this.#updater.position, allowed }, best);
    return best.ranking();
  }

  /**
   * At least the `count` nearest in the graph, where it has as many. The graph's own filter would be a call of a JavaScript
   * function for every vector that is visited. Instead more are fetched than wanted, and then filtered.
   *
   * @returns undefined when comparing all allowed vectors is cheaper or the only way to find enough, and the graph cannot.
   */
  #nearestInGraph(vector: Float32Array, count: number, allowed?: Allowed): Ranking | undefined {
    const graph = this.#graph;
    if (!graph || graph.count === graph.deleted) return { labels: new Float64Array(0), scores: new Float64Array(0) };
    const { comparisonsPerResult } = this.#options.engine;
    const removed = new Set(this.#changes.removalsAfter(this.#updater.position.removal).map(({ label }) => label));
    const living = graph.count - graph.deleted;
    // Fetch one more for every row that may have been removed. These are few, since removals are applied once they are seen.
    const wanted = this.#candidates(Math.min(count, living) + removed.size);
    let fetched = allowed ? Math.ceil(fetchMargin * wanted * Math.max(1, living / Math.max(1, allowed.size))) : wanted;
    for (;;) {
      if (allowed && fetched * comparisonsPerResult > allowed.size) {
        return graph.scan && without(removed, graph.scan(vector, wanted, allowed));
      }
      const found = graph.search(vector, fetched, Math.max(graph.saved.ef, walkMargin * count));
      const kept = without(removed, found, allowed);
      if (!allowed || kept.labels.length >= Math.min(wanted, allowed.size) || found.labels.length >= living)
        return kept;
      fetched *= 2;
    }
  }

  /** How many to fetch, so that the `count` nearest are among them: of an approximate graph at least a quarter more. */
  #candidates(count: number): number {
    const { extraCandidates } = this.#options.engine;
    return extraCandidates > 0 ? count + Math.max(extraCandidates, count >> 2) : count;
  }

  /** Offers what the graph found, with its exact similarity. */
  #offer(vector: Float32Array, { labels, scores }: Ranking, best: TopK): void {
    if (this.#options.engine.extraCandidates > 0) {
      this.#changes.eachVectorOf(labels, (label, exact) => best.offer(label, cosine(vector, exact)));
    } else for (const [index, label] of labels.entries()) best.offer(label, scores[index]!);
  }

  async save(): Promise<void> {
    await this.#updater.exclusively(async () => {
      const graph = this.#graph;
      const { engine } = this.#options;
      if (!graph || !this.#changed || this.#stopping.signal.aborted) return;
      await this.#tune(graph);
      const { saved } = graph;
      const { position } = this.#updater;
      const facts: GraphFacts = {
        format: engine.format,
        store: this.#options.store,
        ...saved,
        tunedAt: this.#tunedAt,
        position,
      };
      await saveIndex(this.#options.folder, "graph", facts, async (path) => {
        await graph.write(path);
        if (!existsSync(path)) throw new Error(`${path} could not be written`);
        await engine.check(path, saved);
      });
      this.#changed = false;
      this.#unsaved = 0;
    });
  }

  /** Tunes `ef` each time the graph has doubled: a larger graph needs a larger one. */
  async #tune(graph: VectorGraph): Promise<void> {
    const living = graph.count - graph.deleted;
    if (this.#options.ef !== undefined || living < Math.max(minTunedCount, 2 * this.#tunedAt)) return;
    const { signal } = this.#stopping;
    const upToLabel = this.#updater.position.label;
    try {
      const search = (vector: Float32Array, count: number, ef: number) => {
        const best = new TopK(count);
        this.#offer(vector, graph.search(vector, this.#candidates(count), ef), best);
        return best.ranking();
      };
      graph.setEf(await tuneEf({ changes: this.#changes, search, upToLabel, signal }));
      this.#tunedAt = living;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Resolves when the graph and the store are no longer used. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("The graph's thread is stopping"));
    await this.#updater.stop();
    await this.#graph?.close();
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
          if (this.#graph?.remove(label)) this.#changed = true;
        },
      },
      from,
    );
  }

  #add({ label, vector }: VectorRow): void {
    this.#graph ??= this.#options.engine.create(vector.length, this.#parameters);
    this.#graph.add(label, normalised(vector));
    this.#pending.remove(label);
    this.#changed = true;
    const savedCount = this.#graph.count - ++this.#unsaved;
    if (this.#unsaved === Math.ceil(maxUnsavedInsertions(savedCount))) this.#options.onUnsaved();
  }
}

/** A ranking without labels that were removed, and those that are not allowed. */
function without(removed: ReadonlySet<number>, { labels, scores }: Ranking, allowed?: Allowed): Ranking {
  const isKept = (label: number) => !removed.has(label) && (!allowed || allowed.has(label));
  return {
    labels: labels.filter((label) => isKept(label)),
    scores: scores.filter((_, index) => isKept(labels[index]!)),
  };
}
