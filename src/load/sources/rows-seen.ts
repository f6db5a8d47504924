import { isMissing } from "./real-path.js";

/** Remembers which rows the last run over the files met, so that it can tell which stored rows are gone. */
export class RowsSeen {
  readonly #complete = new Set<string>();
  #isWhole = false;

  /** Forgets the run before. */
  start(): void {
    this.#complete.clear();
    this.#isWhole = false;
  }

  /** Notes that all rows of the file with this URI were read. */
  addComplete(uri: string): void {
    this.#complete.add(uri);
  }

  /** Ends a run with the number of files and rows that could not be read. */
  end(failed: number): void {
    this.#isWhole = failed === 0;
  }

  /** Whether the run met everything and could read it. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether a row that was not met is gone: all others of its file were met, or the file is not there any more. */
  isGone(uri: string): boolean {
    const [file = uri] = uri.split("#");
    return this.#complete.has(file) || isMissing(file);
  }
}

/** Whether the URI is that of a row of a file. */
export function isRow(uri: string): boolean {
  return uri.includes("#");
}
