import type { FileOutcome } from "../load-file.js";
import type { RowMapping } from "./row-mapping.js";

/** A file of rows on its way to documents. It is read as it comes, so that its size does not matter. */
export interface RowFile {
  readonly uri: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface RowOptions {
  readonly mapping: RowMapping;
  /** What its documents carry as `source`. */
  readonly source: string;
  readonly maxRowBytes: number;
}

/**
 * The documents of a file of rows, one each, in order. A row that is no document is an error under an address of its own
 * and costs no other; where the rows after it cannot be told apart, the error is the file's and the last.
 */
export type RowReader = (file: RowFile, options: RowOptions) => AsyncIterable<FileOutcome>;
