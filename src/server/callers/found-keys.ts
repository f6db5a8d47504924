import type { KeyBook, KeyRecord } from "./key.js";

/** Maximum number of keys that are remembered; the one that was looked up longest ago is forgotten. */
const maxKnown = 10_000;

/**
 * Looks keys up by their ids. One look-up at a time is under way, and who comes meanwhile goes with the next one: anybody can
 * send what looks like a key, and whoever sends many keeps one connection busy.
 */
export class FoundKeys {
  readonly #find: NonNullable<KeyBook["find"]>;
  readonly #freshMs: number;
  /** Keys by id, the one that was looked up last at the end. */
  readonly #known = new Map<string, { readonly atMs: number; readonly record: KeyRecord }>();
  #waiting: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, KeyRecord>> } | undefined;
  #running: Promise<unknown> = Promise.resolve();

  /** @param freshMs time for which a key is used as it was read */
  constructor(find: NonNullable<KeyBook["find"]>, freshMs: number) {
    this.#find = find;
    this.#freshMs = freshMs;
  }

  async get(id: string): Promise<KeyRecord | undefined> {
    const known = this.#known.get(id);
    if (known && performance.now() - known.atMs <= this.#freshMs) return known.record;
    const next = (this.#waiting ??= this.#next());
    next.ids.add(id);
    return (await next.found).get(id);
  }

  #next() {
    const ids = new Set<string>();
    const found = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#read([...ids]);
    });
    this.#running = found.catch(() => {});
    return { ids, found };
  }

  async #read(ids: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>> {
    const atMs = performance.now();
    const found = new Map((await this.#find(ids)).map((record) => [record.id, record]));
    for (const id of ids) {
      this.#known.delete(id);
      const record = found.get(id);
      if (record) this.#known.set(id, { atMs, record });
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= maxKnown) break;
      this.#known.delete(id);
    }
    return found;
  }
}
