/** `citewell/transfer`: documents, chunks and vectors from store to store, and to and from a file. */

export { copyStore } from "../transfer/copy-store.js";
export { exportStore } from "../transfer/export-store.js";
export { importStore } from "../transfer/import-store.js";
export type { TransferOptions, TransferReport } from "../transfer/transfer-options.js";
export type { TransferCounts } from "../transfer/write-records.js";
