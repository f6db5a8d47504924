import { setImmediate as nextTurn } from "node:timers/promises";

// Long work on the main thread lets others run this often. Several such works take turns, and together must stay well
// below the 50 ms that count as a stall, also on a slow machine.
const sliceMs = 4;

/** Splits long work: `if (slice.over) await slice.next()`. */
export class TimeSlice {
  #endsAt = performance.now() + sliceMs;

  get over(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Lets everything that waits run first. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endsAt = performance.now() + sliceMs;
  }
}

/** Runs work that comes in short steps to its end, and lets others run between them. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  const slice = new TimeSlice();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slice.over) await slice.next();
  }
}
