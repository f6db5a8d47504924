import type { Changes, Position } from "./changes.js";
import { TaskQueue, TimeSlice } from "./scheduling.js";

/** An index that is derived from a store's chunks. */
export interface DerivedIndex<Row extends { readonly label: number }> {
  /** How long rows are added before other work gets its turn. Default: that of a `TimeSlice`. */
  readonly sliceMs?: number;
  /** Rows read at once, without interruption. Default: 64. */
  readonly rowsPerRead?: number;
  readonly read: (afterLabel: number, limit: number) => Iterable<Row>;
  readonly add: (row: Row) => void;
  /** Ignores unknown labels. */
  readonly remove: (label: number) => void;
  /** Called after each step, before anything else is added or removed. */
  readonly settle?: () => Promise<void>;
}

// A quarter of a megabyte of vectors, about a millisecond.
const defaultRowsPerRead = 64;

/** Keeps a derived index up to date with its store, a slice at a time on the thread it runs on. */
export class IndexUpdater<Row extends { readonly label: number }> {
  readonly #changes: Changes;
  readonly #index: DerivedIndex<Row>;
  readonly #queue = new TaskQueue();
  /** One slice for all steps, because many short steps in a row are long work too. */
  readonly #slice: TimeSlice;
  #position: Position;
  #step: Promise<void> | undefined;
  #stopped = false;

  constructor(changes: Changes, index: DerivedIndex<Row>, from: Position = { label: 0, removal: 0 }) {
    this.#changes = changes;
    this.#index = index;
    this.#slice = new TimeSlice(index.sliceMs);
    this.#position = from;
  }

  get position(): Position {
    return this.#position;
  }

  /** Resolves when the index holds everything up to `head` (default: everything committed), or the updater was stopped. */
  async catchUp(head = this.#changes.head()): Promise<void> {
    while (!this.#stopped && (this.#position.label < head.label || this.#position.removal < head.removal)) {
      // All callers share one step, and each step is a task of its own: a save gets its turn during a long build, however
      // many callers wait for the build.
      this.#step ??= this.#queue
        .run(() => this.#advance())
        .finally(() => {
          this.#step = undefined;
        });
      await this.#step;
    }
  }

  /** Runs `task` while nothing else changes the index. */
  exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(task);
  }

  /** Resolves when the updater no longer uses the index and the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#queue.idle();
  }

  async #advance(): Promise<void> {
    const slice = this.#slice;
    const { rowsPerRead = defaultRowsPerRead } = this.#index;
    if (slice.over) await slice.next();
    if (this.#stopped) return;
    const head = this.#changes.head();
    // All rows are read before the first pause: an open cursor would hold its snapshot.
    const rows = Array.from(this.#index.read(this.#position.label, rowsPerRead));
    for (const row of rows) {
      if (this.#stopped) return;
      this.#index.add(row);
      this.#position = { label: row.label, removal: this.#position.removal };
      if (slice.over) await slice.next();
    }
    // The last labels may belong to chunks that were deleted already: no row will ever come for them.
    if (rows.length < rowsPerRead) {
      this.#position = { ...this.#position, label: Math.max(head.label, this.#position.label) };
    }
    // Removals come after additions: a chunk that was deleted while it was being added is in the index by now.
    for (const { sequence, label } of this.#changes.removalsAfter(this.#position.removal)) {
      if (this.#stopped) return;
      this.#index.remove(label);
      this.#position = { ...this.#position, removal: sequence };
      if (slice.over) await slice.next();
    }
    // The count of removals may be damaged: waiting for those that never come would have no end.
    this.#position = { ...this.#position, removal: Math.max(head.removal, this.#position.removal) };
    await this.#index.settle?.();
  }
}
