/**
 * Schedules the work of one worker. Some work runs side by side; exclusive work waits until all earlier work has ended,
 * and later work waits for it.
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
