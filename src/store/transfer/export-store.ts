import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, open, rename, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { resolve } from "../../core/options.js";
import type { Store } from "../../core/ports.js";
import { fileRecords, soundRecords } from "./read-file.js";
import { encodeLine } from "./record-lines.js";
import { documentRecords, isStoredIn, storeRecord } from "./records.js";
import { type TransferOptions, transferOptions, type TransferReport } from "./transfer-options.js";
import { differencesFrom } from "./write-records.js";

/** Progress that an interrupted export left in its file. */
interface Begun {
  readonly endBytes: number;
  readonly after?: string;
  readonly lines: number;
  readonly documents: number;
  readonly chunks: number;
}

const nothing: Begun = { endBytes: 0, lines: 0, documents: 0, chunks: 0 };

/**
 * Writes a store to one file of JSON lines, for `importStore`: documents, chunks, vectors bit by bit, notes and settings. It
 * grows beside its place as `<path>.partial`, which the same call continues after an interruption, and takes its place, over
 * any earlier file, when it is whole and was compared with the store.
 *
 * @throws StoreError `missing` when the store cannot list chunks.
 * @example
 * ```ts
 * import { openStore, type Embedder } from "citewell";
 * import { exportStore } from "citewell/transfer";
 * export async function backUp(embedder: Embedder) {
 *   const store = await openStore("./.citewell", embedder);
 *   await exportStore(store, "./backup.jsonl");
 *   await store.close();
 * }
 * ```
 */
export async function exportStore(from: Store, path: string, options: TransferOptions = {}): Promise<TransferReport> {
  const { signal, onProgress = () => {} } = resolve("exportStore", transferOptions, options);
  const partial = `${path}.partial`;
  const { begun, sha256s } = existsSync(partial) ? await readBegun(partial, from) : none;
  if (existsSync(partial)) await truncate(partial, begun.endBytes);
  let { documents, chunks } = begun;
  const digest = createHash("sha256").update(sha256s.join(""));
  const file = await open(partial, "a");
  try {
    const append = async (record: Parameters<typeof encodeLine>[0]) => {
      const { line, sha256 } = encodeLine(record);
      await file.appendFile(`${line}\n`);
      digest.update(sha256);
    };
    if (begun.endBytes === 0) await append(storeRecord(from));
    const { after } = begun;
    for await (const record of documentRecords(from, async () => false, { after, signal })) {
      await append(record);
      if (record.kind !== "document") continue;
      documents++;
      chunks += record.write.chunks.length;
      onProgress({ copied: documents - begun.documents, unchanged: begun.documents, chunks: chunks - begun.chunks });
    }
    await append({ kind: "end", documents, chunks, lines: digest.copy().digest("hex") });
    await file.sync();
  } finally {
    await file.close();
  }
  const differences = await differencesFrom(from, fileRecords(partial, signal));
  await rename(partial, path);
  await syncFolder(dirname(path));
  return {
    copied: documents - begun.documents,
    unchanged: begun.documents,
    chunks: chunks - begun.chunks,
    documents: { source: (await from.counts()).documents, target: documents },
    differences,
  };
}

const none = { begun: nothing, sha256s: [] };

/** The part of a partial file that can be continued: none if the store has changed since. */
async function readBegun(
  partial: string,
  from: Store,
): Promise<{ readonly begun: Begun; readonly sha256s: readonly string[] }> {
  let begun = nothing;
  const sha256s: string[] = [];
  for await (const { record, sha256, endBytes } of soundRecords(partial)) {
    if (record.kind === "end") break;
    sha256s.push(sha256);
    // Vectors count once their document stands behind them.
    if (record.kind === "store") {
      if (JSON.stringify(record) !== JSON.stringify(storeRecord(from))) return none;
      begun = { ...nothing, endBytes, lines: 1 };
    } else if (record.kind === "document") {
      if (!(await isStoredIn(from, record.of))) return none;
      const { documents, chunks } = begun;
      begun = {
        endBytes,
        after: record.of.uri,
        lines: sha256s.length,
        documents: documents + 1,
        chunks: chunks + record.write.chunks.length,
      };
    }
  }
  return { begun, sha256s: sha256s.slice(0, begun.lines) };
}

async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await handle.sync();
  } catch {
    // Windows opens no folders; the name is written soon all the same.
  } finally {
    await handle?.close();
  }
}
