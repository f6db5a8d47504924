import { StoreError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import type { Store } from "../../core/ports.js";
import { fileRecords, soundRecords } from "./read-file.js";
import type { TransferRecord } from "./records.js";
import { type TransferOptions, transferOptions, type TransferReport } from "./transfer-options.js";
import { differencesFrom, writeRecords } from "./write-records.js";

/**
 * Reads a file of `exportStore` into a store of the same vector space, as `copyStore` copies another store. Every line of the
 * file is checked before it is written.
 *
 * @throws StoreError `damaged` at the first line that is not as it was written: what stands before it is in the store.
 * @example
 * ```ts
 * import { openStore, type Embedder } from "citewell";
 * import { importStore } from "citewell/transfer";
 * export async function restore(embedder: Embedder) {
 *   const store = await openStore("./restored", embedder);
 *   await importStore("./backup.jsonl", store);
 *   await store.close();
 * }
 * ```
 */
export async function importStore(path: string, to: Store, options: TransferOptions = {}): Promise<TransferReport> {
  const { signal, onProgress = () => {} } = resolve("importStore", transferOptions, options);
  const release = await to.claim?.();
  try {
    const counts = await writeRecords(to, fileRecords(path, signal), onProgress);
    const differences = await differencesFrom(to, fileRecords(path, signal));
    const documents = { source: counts.copied + counts.unchanged, target: (await to.counts()).documents };
    return { ...counts, documents, differences };
  } finally {
    await release?.();
  }
}

/**
 * The first record of a file: the vector space of what it holds.
 *
 * @throws StoreError `damaged` when it is no file of `exportStore`.
 * @internal
 */
export async function exportedSpace(path: string): Promise<TransferRecord & { readonly kind: "store" }> {
  for await (const { record } of soundRecords(path)) {
    if (record.kind === "store") return record;
    break;
  }
  throw new StoreError(
    "damaged",
    `${path} is no export of citewell, or of a later version. Name a file of citewell export`,
    {
      path,
    },
  );
}
