import type { Changes, Position } from "./changes.js";
import { Serial } from "./serial.js";
import { TimeSlice } from "./time-slice.js";

/** An index that is derived from a store's chunks. */
export interface Following<Row extends { readonly label: number }> {
  /** For which rows are taken over before others get their turn. Default: that of a `TimeSlice`. */
  readonly sliceMs?: number;
  readonly read: (afterLabel: number, limit: number) => Iterable<Row>;
  readonly add: (row: Row) => void;
  /** Unknown labels are ignored. */
  readonly remove: (label: number) => void;
}

// Rows of one reading, which nothing interrupts: a quarter of a megabyte of vectors, about a millisecond.
const rowsPerReading = 64;

/** Keeps a derived index level with its store, a slice at a time on the thread it runs on. */
export class Follower<Row extends { readonly label: number }> {
  readonly #changes: Changes;
  readonly #index: Following<Row>;
  readonly #serial = new Serial();
  /** One for all steps: many short steps in a row are long work too. */
  readonly #slice: TimeSlice;
  #position: Position;
  #step: Promise<void> | undefined;
  #stopped = false;

  constructor(changes: Changes, index: Following<Row>, from: Position = { label: 0, removal: 0 }) {
    this.#changes = changes;
    this.#index = index;
    this.#slice = new TimeSlice(index.sliceMs);
    this.#position = from;
  }

  get position(): Position {
    return this.#position;
  }

  /**
   * Resolves when the index holds all up to `head`, by default all that was committed before the call, or the follower was
   * stopped.
   */
  async follow(head = this.#changes.head()): Promise<void> {
    while (!this.#stopped && (this.#position.label < head.label || this.#position.removal < head.removal)) {
      // All who wait share one step, and each step is a task of its own: a save finds its turn in the midst of a long
      // build, however many follow it.
      this.#step ??= this.#serial
        .run(() => this.#advance())
        .finally(() => {
          this.#step = undefined;
        });
      await this.#step;
    }
  }

  /** Runs `task` while nothing else changes the index. */
  exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#serial.run(task);
  }

  /** Resolves when it has let go of the index and the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#serial.idle();
  }

  async #advance(): Promise<void> {
    const slice = this.#slice;
    if (slice.over) await slice.next();
    if (this.#stopped) return;
    const head = this.#changes.head();
    // Read to the end before giving way: an open cursor would hold the snapshot it reads from.
    const rows = Array.from(this.#index.read(this.#position.label, rowsPerReading));
    for (const row of rows) {
      if (this.#stopped) return;
      this.#index.add(row);
      this.#position = { ...this.#position, label: row.label };
      if (slice.over) await slice.next();
    }
    // The last labels may belong to chunks that are gone already: no row will ever come for them.
    if (rows.length < rowsPerReading) {
      this.#position = { ...this.#position, label: Math.max(head.label, this.#position.label) };
    }
    // After the additions: a chunk that went while they were made is in the index now, and its removal is seen here.
    for (const { sequence, label } of this.#changes.removalsAfter(this.#position.removal)) {
      if (this.#stopped) return;
      this.#index.remove(label);
      this.#position = { ...this.#position, removal: sequence };
      if (slice.over) await slice.next();
    }
  }
}
