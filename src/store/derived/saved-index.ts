import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { asError, isOutOfFiles } from "../../core/errors.js";
import type { StoreProblem } from "../../core/ports.js";
import { readChecksummed, withChecksum } from "../database/checksummed-json.js";
import type { Position } from "./changes.js";

/** The derived indexes that are saved: words as several files, the others as one, each with a manifest that names them. */
export type SavedIndexName = "graph" | "flat" | "lexical" | "latent";

const savedIndexNames: readonly SavedIndexName[] = ["lexical", "graph", "flat", "latent"];

/** A file of a saved index. */
export interface SavedFile {
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export type LoadedIndex<Facts> =
  /** The files hold exactly the bytes that were saved, as far as they were checked. `filePath` and `sha256` are of the first. */
  | { readonly outcome: "loaded"; readonly facts: Facts; readonly filePath: string; readonly sha256: string }
  /** Nothing was saved yet. */
  | { readonly outcome: "none" }
  /** The saved file must not be read. */
  | { readonly outcome: "refused"; readonly reason: string };

/**
 * Saves an index of one file in `folder`, and makes it current. A crash at any moment leaves the old index or the new one.
 *
 * @param write writes a new file, and throws when it is incomplete.
 */
export async function saveIndex(
  folder: string,
  name: SavedIndexName,
  facts: object,
  write: (path: string) => Promise<void>,
): Promise<void> {
  const saved = await saveFile(folder, name, write);
  try {
    await saveManifest(folder, name, { ...facts, ...saved });
  } catch (error) {
    await rm(join(folder, saved.file), { force: true });
    throw error;
  }
}

/** Writes a new file of an index, flushed and checksummed from what can be read back. No manifest names it yet. */
export async function saveFile(
  folder: string,
  name: SavedIndexName,
  write: (path: string) => Promise<void>,
): Promise<SavedFile> {
  const file = `${name}-${randomUUID()}.bin`;
  const path = join(folder, file);
  try {
    await write(path);
    await flush(path);
    const { size } = await stat(path);
    return { file, sizeBytes: size, sha256: await sha256(path) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Makes the files that a manifest names the current ones, by renaming it, and deletes all others of the index. */
export async function saveManifest(folder: string, name: SavedIndexName, manifest: object): Promise<void> {
  const temporary = join(folder, `${name}-${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, "wx");
    try {
      await handle.writeFile(withChecksum(manifest));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, manifestPath(folder, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flush(folder).catch(() => {}); // Windows cannot flush a folder
  await deleteFilesBut(folder, name, new Set(filesOf(manifest)?.map(({ file }) => file)));
}

/** Deletes a saved index that is no longer kept up to date. */
export async function discardIndex(folder: string, name: SavedIndexName): Promise<void> {
  if (!existsSync(manifestPath(folder, name))) return;
  await rm(manifestPath(folder, name), { recursive: true, force: true });
  await deleteFilesBut(folder, name, new Set());
}

async function deleteFilesBut(folder: string, name: SavedIndexName, current: ReadonlySet<string>): Promise<void> {
  // A file that cannot be listed or deleted now, such as one open on Windows, is deleted after a later save.
  const old = (await readdir(folder).catch(() => [])).filter(
    (other) =>
      other.startsWith(`${name}-`) && (other.endsWith(".bin") || other.endsWith(".tmp")) && !current.has(other),
  );
  await Promise.allSettled(old.map((other) => rm(join(folder, other), { force: true })));
}

/**
 * Finds the saved index, if its manifest and its bytes are as they were saved. An unreadable one is a reason to build the
 * index again and never an error, because the store holds everything that an index holds.
 *
 * @param parseFacts reads the facts of a manifest; `undefined` for another format.
 * @param check whether all bytes are read, or only the sizes of files looked at, because what is read later is checked then.
 */
export async function loadIndex<Facts>(
  folder: string,
  name: SavedIndexName,
  parseFacts: (manifest: object) => Facts | undefined,
  check: "checksums" | "sizes" = "checksums",
): Promise<LoadedIndex<Facts>> {
  let reason = "";
  // Another process may replace the file between the reading of its manifest and of itself: the second try finds the new one.
  for (let attempt = 0; attempt < 2; attempt++) {
    let text: string;
    try {
      text = await readFile(manifestPath(folder, name), "utf8");
    } catch (error) {
      if (isMissing(error)) return { outcome: "none" };
      return { outcome: "refused", reason: `its manifest cannot be read: ${asError(error).message}` };
    }
    try {
      const manifest = parseManifest(text);
      const facts = parseFacts(manifest);
      const files = filesOf(manifest);
      if (facts === undefined || files === undefined) {
        return { outcome: "refused", reason: "its manifest has another format" };
      }
      for (const { file, sizeBytes, sha256: expected } of files) {
        const path = join(folder, file);
        const { size } = await stat(path);
        if (size !== sizeBytes) reason = `${file} has ${size} bytes instead of ${sizeBytes}`;
        else if (check === "checksums" && (await sha256(path)) !== expected)
          reason = `${file} was changed: its checksum differs`;
        else continue;
        return { outcome: "refused", reason };
      }
      const [first = { file: `${name}.json`, sha256: "" }] = files;
      return { outcome: "loaded", facts, filePath: join(folder, first.file), sha256: first.sha256 };
    } catch (error) {
      reason = asError(error).message;
      if (!isMissing(error)) break;
    }
  }
  return { outcome: "refused", reason };
}

/** Whether a saved index was made from this store, and is not ahead of it. */
export function isCurrent(
  saved: { readonly store: string; readonly position: Position },
  store: string,
  head: Position,
): boolean {
  const { label, removal } = saved.position;
  return saved.store === store && label <= head.label && removal <= head.removal;
}

/** The problem of a saved index, if any: it cannot be read, or was made from another store than `store`. */
export function indexProblem(
  what: SavedIndexName,
  loaded: LoadedIndex<{ readonly store: string }>,
  store: string,
): StoreProblem | undefined {
  if (loaded.outcome === "none" || (loaded.outcome === "loaded" && loaded.facts.store === store)) return undefined;
  const message = loaded.outcome === "refused" ? loaded.reason : `${loaded.filePath} was made from another store`;
  return { what, message, repairable: true };
}

/**
 * Deletes saved indexes that are ahead of the store, which happens when its database was restored from a backup. They are
 * ignored at opening. But the store will give the labels that they know to other chunks, and once it has grown past them
 * they would pass for indexes of it. So they must go before anything is written.
 */
export function deleteStaleIndexes(folder: string, head: () => Position): void {
  for (const name of savedIndexNames) {
    const saved = savedPosition(folder, name);
    // The head is read last, since another process may be saving an index of what it has just committed.
    const { label, removal } = head();
    if (saved && (saved.label > label || saved.removal > removal)) rmSync(manifestPath(folder, name), { force: true });
  }
}

/** How far the saved indexes in a folder had come, by the last label they know; undefined where there is none. */
export function lastSavedLabel(folder: string): number | undefined {
  const labels = savedIndexNames.map((name) => savedPosition(folder, name)?.label ?? 0);
  return Math.max(...labels) || undefined;
}

function savedPosition(folder: string, name: SavedIndexName): Position | undefined {
  const saved: { readonly position?: Position } | undefined = savedFacts(folder, name);
  return saved?.position;
}

/** The manifest of a saved index, without its file; undefined where there is none, or a damaged one. */
export function savedFacts(folder: string, name: SavedIndexName): object | undefined {
  try {
    return readChecksummed(readFileSync(manifestPath(folder, name), "utf8"));
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    return undefined;
  }
}

function parseManifest(text: string): object {
  try {
    return readChecksummed(text);
  } catch (error) {
    throw new Error(`its manifest was changed: ${asError(error).message}`, { cause: error });
  }
}

/** The files that a manifest names: those in its list, or the one that it says the facts of itself. */
function filesOf(manifest: object): readonly SavedFile[] | undefined {
  const { files = [manifest] } = manifest as { readonly files?: readonly object[] };
  return Array.isArray(files) && files.every(isSavedFile) ? files : undefined;
}

function isSavedFile(given: object): given is SavedFile {
  const { file, sizeBytes, sha256: sum } = given as Partial<SavedFile>;
  const isName = typeof file === "string" && /^[\w-]+\.bin$/.test(file);
  return isName && Number.isSafeInteger(sizeBytes) && sizeBytes! > 0 && typeof sum === "string";
}

function manifestPath(folder: string, name: SavedIndexName): string {
  return join(folder, `${name}.json`);
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  const handle = await open(path, "r");
  try {
    // One buffer for all pieces: a file of whatever size costs 1 MB, and hashing a piece takes less than 1 ms.
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
