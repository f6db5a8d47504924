/** How far something was at a moment. */
interface Moment {
  readonly seconds: number;
  readonly done: number;
}

// Long enough to hold several batches, short enough to forget a start in which everything was known already.
const windowSeconds = 20;
const everySeconds = 0.5;

/** How fast something goes now: over the last 20 seconds, or since its start. */
export class RecentRate {
  readonly #moments: Moment[] = [{ seconds: 0, done: 0 }];

  /** To be told often, in order. */
  note(seconds: number, done: number): void {
    if (seconds - this.#moments.at(-1)!.seconds < everySeconds) return;
    this.#moments.push({ seconds, done });
    while (this.#moments.length > 2 && seconds - this.#moments[1]!.seconds >= windowSeconds) this.#moments.shift();
  }

  /** Units a second; undefined in the first second, when there is too little to tell by. */
  perSecond(seconds: number, done: number): number | undefined {
    const [first] = this.#moments;
    const taken = seconds - first!.seconds;
    return taken < 1 ? undefined : (done - first!.done) / taken;
  }
}
