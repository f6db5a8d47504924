import { StoreError } from "../core/errors.js";

/** Work under way in a knowledge base, tracked so that closing it gives each task one clear end. */
export class RunningWork {
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /**
   * Runs work that closing ends.
   *
   * @param work its signal is aborted by the caller's, and when the knowledge base is closed.
   */
  run<Result>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { signal } = this.#ending;
    return this.finish(() => work(given instanceof AbortSignal ? AbortSignal.any([given, signal]) : (given ?? signal)));
  }

  /**
   * Runs work so short that closing waits for it. It has no signal of its own: the caller's signal may serve very many
   * searches, and would retain something for each.
   */
  async finish<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#ending.signal.throwIfAborted();
    const result = work();
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  /** Ends all work with an error that says so, and waits until it has ended. Later work is refused with the same error. */
  async end(location: string): Promise<void> {
    const message = `The knowledge base at ${location} was closed. What was done is kept: open it again and repeat the call`;
    this.#ending.abort(new StoreError("closed", message, { path: location }));
    await Promise.allSettled(this.#running);
  }
}
