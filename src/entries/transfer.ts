/** `citewell/transfer`: documents, chunks and vectors from store to store, and to and from a file. */

export { copyStore } from "../store/transfer/copy-store.js";
export { exportStore } from "../store/transfer/export-store.js";
export { importStore } from "../store/transfer/import-store.js";
export type { TransferOptions, TransferReport } from "../store/transfer/transfer-options.js";
export type { TransferCounts } from "../store/transfer/write-records.js";
