import { resolve } from "../../core/options.js";
import type { Store } from "../../core/ports.js";
import { documentRecords, isStoredIn, storeRecord } from "./records.js";
import { type TransferOptions, transferOptions, type TransferReport } from "./transfer-options.js";
import { differencesFrom, writeRecords } from "./write-records.js";

/**
 * Copies the documents of one store to another one of the same vector space, of any kind, with chunks, vectors, notes and,
 * if the target has none, settings. Nothing is embedded again. Documents that the target has already are left as they are, so
 * that a copy that was stopped goes on, and a later one brings what is new; documents that only the target has stay. Vectors
 * that no document uses are left behind. Then everything is read from both and compared.
 *
 * @throws StoreError `space` for another vector space, `missing` when the source cannot list chunks.
 * @example
 * ```ts
 * import type { Store } from "citewell";
 * import { copyStore } from "citewell/transfer";
 * export async function move(from: Store, to: Store) {
 *   const { differences } = await copyStore(from, to, { onProgress: ({ chunks }) => console.log(chunks) });
 *   if (differences.length > 0) throw new Error(differences.join("; "));
 * }
 * ```
 */
export async function copyStore(from: Store, to: Store, options: TransferOptions = {}): Promise<TransferReport> {
  const { signal, onProgress = () => {} } = resolve("copyStore", transferOptions, options);
  const release = await to.claim?.();
  try {
    let alreadyThere = 0;
    const isThere = async (info: Parameters<typeof isStoredIn>[1]) => {
      const isStored = await isStoredIn(to, info);
      if (isStored) alreadyThere++;
      return isStored;
    };
    const records = async function* () {
      yield storeRecord(from);
      yield* documentRecords(from, isThere, { signal });
    };
    const counted = (counts: TransferReport | Awaited<ReturnType<typeof writeRecords>>) => ({
      ...counts,
      unchanged: counts.unchanged + alreadyThere,
    });
    const counts = counted(await writeRecords(to, records(), (so) => onProgress(counted(so))));
    const differences = await differencesFrom(
      to,
      documentRecords(from, async () => false, { signal }),
    );
    const [source, target] = [await from.counts(), await to.counts()];
    return { ...counts, documents: { source: source.documents, target: target.documents }, differences };
  } finally {
    await release?.();
  }
}
