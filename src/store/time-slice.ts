import { setImmediate as nextTurn } from "node:timers/promises";

// Long work on the main thread lets others run this often. Several such works take turns, and together must stay well
// below the 50 ms that count as a stall, also on a slow machine.
const usualMs = 2;

/** Splits long work: `if (slice.over) await slice.next()`. */
export class TimeSlice {
  readonly #milliseconds: number;
  #endsAt: number;

  /** @param milliseconds for which work goes on before others get their turn. */
  constructor(milliseconds = usualMs) {
    this.#milliseconds = milliseconds;
    this.#endsAt = performance.now() + milliseconds;
  }

  get over(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Lets everything that waits run first. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endsAt = performance.now() + this.#milliseconds;
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
