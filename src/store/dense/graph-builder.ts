import { existsSync } from "node:fs";
import { z } from "zod";
import { asError } from "../../errors.js";
import { Changes, type VectorRow } from "../changes.js";
import type { Database } from "../database.js";
import { Follower } from "../follower.js";
import { loadGeneration, saveGeneration } from "../generation.js";
import { type Ranking, TopK } from "../top-k.js";
import { cosine, normalised } from "../vectors.js";
import { type GraphParameters, HnswGraph, type HnswLibrary } from "./hnsw.js";
import { checkGraphFile } from "./hnsw-file.js";

const name = "graph";

const Facts = z.object({
  format: z.literal(1),
  store: z.string(),
  m: z.int(),
  efConstruction: z.int(),
  ef: z.int(),
  dimension: z.int().positive(),
  count: z.int().nonnegative(),
  deleted: z.int().nonnegative(),
  lastLabel: z.int().nonnegative(),
  position: z.object({ label: z.int(), removal: z.int() }),
});

export interface GraphBuilderOptions {
  readonly database: Database;
  readonly folder: string;
  readonly store: string;
  /** What was asked for; what was not is taken from the saved graph, then from the defaults. */
  readonly parameters: Partial<GraphParameters>;
  readonly library: HnswLibrary;
  readonly onWarning: (message: string) => void;
  /** Called when so much was inserted since the last save that losing it would cost. */
  readonly onUnsaved: () => void;
  /** Runs work in native code; throws when the process is ending. */
  readonly native: <Result>(work: () => Result) => Result;
}

/** Twice: what is inserted in a few seconds need not be saved at once, and saving costs as much as the graph is large. */
const unsavedInsertions = (count: number) => Math.max(5000, count / 4);

/** Keeps a graph level with a store, answers from both, and saves it. */
export class GraphBuilder {
  readonly #options: GraphBuilderOptions;
  readonly #changes: Changes;
  readonly #parameters: GraphParameters;
  #follower: Follower<VectorRow>;
  #graph: HnswGraph | undefined;
  #unsaved = 0;
  #changed = false;
  #stopped = false;

  private constructor(options: GraphBuilderOptions, changes: Changes, parameters: GraphParameters) {
    this.#options = options;
    this.#changes = changes;
    this.#parameters = parameters;
    this.#follower = this.#follow();
  }

  /** Loads the saved graph if it is whole, of this store and built as asked; else begins an empty one. */
  static async open(options: GraphBuilderOptions): Promise<GraphBuilder> {
    const changes = new Changes(options.database);
    const loaded = await loadGeneration(options.folder, name, Facts);
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
          builder.#graph = options.native(() => HnswGraph.read(options.library, filePath, saved));
          builder.#follower = builder.#follow(facts.position);
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

  /** Resolves when the graph holds all that was committed before the call, or the builder was stopped. */
  async follow(): Promise<void> {
    for (;;) {
      const follower = this.#follower;
      await follower.follow();
      if (this.#stopped) return;
      // Deleted elements are walked through at every search: past half, building again is cheaper than carrying them.
      const graph = this.#graph;
      if (follower === this.#follower && !(graph && graph.deleted > 1000 && graph.deleted * 2 > graph.count)) return;
      await follower.stop();
      if (follower === this.#follower) {
        this.#graph = undefined;
        this.#follower = this.#follow();
      }
    }
  }

  /** The nearest of all that is committed: what the graph lacks yet is compared one by one. */
  search(vector: Float32Array, count: number): Ranking {
    const best = new TopK(count);
    const { label, removal } = this.#follower.position;
    const removed = new Set(this.#changes.removalsAfter(removal).map((one) => one.label));
    if (this.#graph) {
      const graph = this.#graph;
      // As many more as may be removed, of which there are few: removals are taken over as soon as they are seen.
      const { labels, scores } = this.#options.native(() => graph.search(vector, count + removed.size));
      for (let at = 0; at < labels.length; at++) {
        if (!removed.has(labels[at]!)) best.offer(labels[at]!, scores[at]!);
      }
    }
    for (const row of this.#changes.vectorsAfter(label, -1)) best.offer(row.label, cosine(vector, row.vector));
    return best.ranking();
  }

  async save(): Promise<void> {
    await this.#follower.exclusively(async () => {
      const graph = this.#graph;
      if (!graph || !this.#changed || this.#stopped) return;
      const { saved } = graph;
      const facts = { format: 1, store: this.#options.store, ...saved, position: this.#follower.position };
      await saveGeneration(
        this.#options.folder,
        name,
        facts,
        async (path) => {
          this.#options.native(() => graph.write(path));
          if (!existsSync(path)) throw new Error(`${path} could not be written`);
        },
        (path) => checkGraphFile(path, saved),
      );
      this.#changed = false;
      this.#unsaved = 0;
    });
  }

  /** Resolves when nothing touches the graph or the store any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#follower.stop();
  }

  #follow(from = { label: 0, removal: 0 }): Follower<VectorRow> {
    return new Follower<VectorRow>(
      this.#changes,
      {
        read: (label, limit) => this.#changes.vectorsAfter(label, limit),
        add: (row) => this.#add(row),
        remove: (label) => {
          if (this.#options.native(() => this.#graph?.remove(label))) this.#changed = true;
        },
      },
      from,
    );
  }

  #add({ label, vector }: VectorRow): void {
    this.#options.native(() => {
      this.#graph ??= HnswGraph.create(this.#options.library, vector.length, this.#parameters);
      this.#graph.add(label, normalised(vector));
    });
    this.#changed = true;
    if (++this.#unsaved === Math.ceil(unsavedInsertions(this.#graph!.count - this.#unsaved))) this.#options.onUnsaved();
  }
}

function pick(facts: GraphParameters | undefined): Partial<GraphParameters> {
  return facts ? { m: facts.m, efConstruction: facts.efConstruction, ef: facts.ef } : {};
}
