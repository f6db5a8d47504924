/** Runs tasks one after another, in the order they came. A task that fails fails alone. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when all tasks that were there at the call have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
