import { existsSync } from "node:fs";

/** What the last reading of files saw of their rows: which of those that are stored are gone is told by it. */
export class RowsSeen {
  readonly #whole = new Set<string>();
  #failed = 0;

  /** A reading begins. */
  start(): void {
    this.#whole.clear();
    this.#failed = 0;
  }

  /** All rows of the file with this URI were read. */
  whole(uri: string): void {
    this.#whole.add(uri);
  }

  /** A file or a row could not be read. */
  fail(): void {
    this.#failed++;
  }

  /** Whether all that was met could be read. */
  get complete(): boolean {
    return this.#failed === 0;
  }

  /** Whether a row that was not met is gone: all others of its file were met, or the file is not there any more. */
  isGone(uri: string): boolean {
    const [file = uri] = uri.split("#");
    return this.#whole.has(file) || !existsSync(new URL(file));
  }
}

/** Whether the URI is that of a row of a file. */
export function isRow(uri: string): boolean {
  return uri.includes("#");
}
