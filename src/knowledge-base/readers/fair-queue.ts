/** Waiting work, taken from one caller after the other: who asks for a hundred things keeps nobody waiting who asks for one. */
export class FairQueue<Work> {
  /** Work in its order, by caller, in the order in which they have their turns. */
  readonly #byCaller = new Map<string, Set<Work>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns a function that takes the work out again, if it still waits. */
  add(caller: string, work: Work): () => void {
    const own = this.#byCaller.get(caller) ?? new Set<Work>();
    this.#byCaller.set(caller, own.add(work));
    this.#size++;
    return () => {
      if (own.delete(work)) this.#size--;
    };
  }

  /** Takes the work whose turn it is; `undefined` when none waits. */
  next(): Work | undefined {
    for (const [caller, own] of this.#byCaller) {
      this.#byCaller.delete(caller);
      for (const work of own) {
        own.delete(work);
        this.#size--;
        if (own.size > 0) this.#byCaller.set(caller, own);
        return work;
      }
    }
    return undefined;
  }
}
