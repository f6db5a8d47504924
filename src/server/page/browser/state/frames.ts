/**
 * Collects items and hands them over together, at most once per frame: an answer of thousands of pieces is drawn some
 * sixty times a second. A hidden page has no frames and gets each item at once.
 */
export class Frames<T> {
  readonly #take: (items: readonly T[]) => void;
  #items: T[] = [];
  #request: number | undefined;

  constructor(take: (items: readonly T[]) => void) {
    this.#take = take;
  }

  push(item: T): void {
    this.#items.push(item);
    if (document.hidden) this.flush();
    else this.#request ??= requestAnimationFrame(() => this.flush());
  }

  /** Hands over the remaining items. */
  flush(): void {
    if (this.#request !== undefined) cancelAnimationFrame(this.#request);
    this.#request = undefined;
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#take(items);
  }
}
