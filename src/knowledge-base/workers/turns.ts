/**
 * Work of one worker that goes side by side, and work that must have the worker to itself: that waits until all before it has
 * ended, and what comes later waits for it.
 */
export class Turns {
  #lone: Promise<unknown> = Promise.resolve();
  readonly #together = new Set<Promise<unknown>>();

  together<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = this.#lone.then(work);
    const ended: Promise<unknown> = working.catch(() => {}).then(() => this.#together.delete(ended));
    this.#together.add(ended);
    return working;
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = Promise.all([this.#lone, ...this.#together]).then(work);
    this.#lone = working.catch(() => {});
    return working;
  }
}
