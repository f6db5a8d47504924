import type { Changes, Position } from "./changes.js";
import { Serial } from "./serial.js";
import { TimeSlice } from "./time-slice.js";

/** An index that is derived from a store's chunks. */
export interface Following<Row extends { readonly label: number }> {
  readonly read: (afterLabel: number, limit: number) => Iterable<Row>;
  readonly add: (row: Row) => void;
  /** Unknown labels are ignored. */
  readonly remove: (label: number) => void;
}

// Rows of one reading: about half a megabyte of vectors, a few milliseconds of tokenizing.
const rowsPerReading = 128;

/** Keeps a derived index level with its store, a slice at a time on the thread it runs on. */
export class Follower<Row extends { readonly label: number }> {
  readonly #changes: Changes;
  readonly #index: Following<Row>;
  readonly #serial = new Serial();
  #position: Position;
  #stopped = false;

  constructor(changes: Changes, index: Following<Row>, from: Position = { label: 0, removal: 0 }) {
    this.#changes = changes;
    this.#index = index;
    this.#position = from;
  }

  get position(): Position {
    return this.#position;
  }

  /** Resolves when the index holds all that was committed before the call, or the follower was stopped. */
  async follow(): Promise<void> {
    const head = this.#changes.head();
    const behind = () => this.#position.label < head.label || this.#position.removal < head.removal;
    // One reading a task, so that a save finds its turn in the midst of a long build.
    while (!this.#stopped && behind()) {
      await this.#serial.run(async () => {
        if (behind()) await this.#step(head);
      });
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

  async #step(head: Position): Promise<void> {
    const slice = new TimeSlice();
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
