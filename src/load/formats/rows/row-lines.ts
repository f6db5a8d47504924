import { LoadError } from "../../../core/errors.js";

/** Bytes of all rows of one file, written as JSON lines: a small file may stand for any number. */
const maxBytes = 250_000_000;

/** Writes rows as JSON lines, for the JSON lines reader. */
export class RowLines {
  readonly #uri: string;
  #bytesLeft = maxBytes;
  #lines: string[] = [];

  constructor(uri: string) {
    this.#uri = uri;
  }

  /** @throws LoadError (`too-large`) when the rows so far have more than 250 MB. */
  add(row: object): void {
    const line = JSON.stringify(row, plainValue);
    this.#bytesLeft -= Buffer.byteLength(line) + 1;
    if (this.#bytesLeft < 0) {
      throw new LoadError(
        "too-large",
        this.#uri,
        `${this.#uri} holds more than ${maxBytes / 1e6} MB of rows: split it`,
      );
    }
    this.#lines.push(line);
  }

  /** Returns the lines that were added since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.from(this.#lines.join("\n"));
    this.#lines = [];
    return bytes;
  }
}

/** Values that JSON lacks: large integers become text where a number would not hold them, and bytes are left out. */
function plainValue(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(this[key])) return undefined;
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
