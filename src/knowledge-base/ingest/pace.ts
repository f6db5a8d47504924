interface Moment {
  readonly seconds: number;
  readonly done: number;
}

// Long enough to hold several batches, short enough to forget a start in which everything was known already.
const windowSeconds = 20;
const minIntervalSeconds = 0.5;

/** Measures the current rate: over the last 20 seconds, or since the start. */
export class RecentRate {
  readonly #moments: Moment[] = [{ seconds: 0, done: 0 }];

  /** Notes progress; call it often and in order. */
  note(seconds: number, done: number): void {
    if (seconds - this.#moments.at(-1)!.seconds < minIntervalSeconds) return;
    this.#moments.push({ seconds, done });
    while (this.#moments.length > 2 && seconds - this.#moments[1]!.seconds >= windowSeconds) this.#moments.shift();
  }

  /** Units per second; undefined in the first second. */
  perSecond(seconds: number, done: number): number | undefined {
    const [first] = this.#moments;
    const taken = seconds - first!.seconds;
    return taken < 1 ? undefined : (done - first!.done) / taken;
  }
}

/** Fewer documents than this, and than this share, are too few to tell how long a run will take. */
const minDocumentsDone = 10;
const minShareDone = 0.05;

/**
 * Estimates the seconds until all documents are done at this pace.
 *
 * @returns undefined while the number of documents is unknown or too few are done.
 */
export function timeLeft(found: number | undefined, done: number, perSecond: number | undefined): number | undefined {
  if (found === undefined || !perSecond || done < Math.min(minDocumentsDone, found * minShareDone)) return undefined;
  return Math.max(0, found - done) / perSecond;
}
