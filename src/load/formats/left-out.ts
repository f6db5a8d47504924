import type { LeftOut, LoadedText } from "./loader.js";

/** Characters of an example: enough to find the place. */
const maxExample = 120;

/** Counts what a loader leaves out, by kind, with the beginning of the first as an example. */
export class LeftOutParts {
  readonly #parts = new Map<string, LeftOut>();

  note(what: string, text: string): void {
    const before = this.#parts.get(what);
    const example = text.length > maxExample ? `${text.slice(0, maxExample - 1)}…` : text;
    this.#parts.set(what, before ? { ...before, count: before.count + 1 } : { what, count: 1, example });
  }

  /** The fields of a loaded text that say so. */
  get noted(): Pick<LoadedText, "leftOut"> {
    return this.#parts.size > 0 ? { leftOut: [...this.#parts.values()] } : {};
  }
}
