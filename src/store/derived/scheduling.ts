import { setImmediate as nextTurn } from "node:timers/promises";
import { closeSomeFiles, isOutOfFiles, StoreError } from "../../core/errors.js";

// Several long tasks may take turns on the main thread. Together they must stay well below the 50 ms that count as a
// stall, also on a slow machine.
const defaultSliceMs = 2;

/** Divides long work on one thread into slices: `if (slice.over) await slice.next()`. */
export class TimeSlice {
  readonly #lengthMs: number;
  #endsAt: number;

  constructor(lengthMs = defaultSliceMs) {
    this.#lengthMs = lengthMs;
    this.#endsAt = performance.now() + lengthMs;
  }

  get over(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Lets all waiting work run first. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endsAt = performance.now() + this.#lengthMs;
  }
}

/** Runs a generator that yields after short steps, and lets other work run between slices. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  const slice = new TimeSlice();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slice.over) await slice.next();
  }
}

/** Runs tasks one at a time, in the order they arrive. A failing task does not affect the others. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when every task queued before the call has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** The error of calls to a thread of the store that has ended. */
export function threadEnded(thread: string): (reason: string, cause?: Error) => StoreError {
  return (reason, cause) => {
    const first = isOutOfFiles(cause) ? `${closeSomeFiles}. Then close` : "Close";
    return new StoreError(
      "closed",
      `${thread} has ended (${reason}). ${first} the store and open it again: everything acknowledged is kept`,
      cause && { cause },
    );
  };
}
