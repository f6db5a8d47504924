import { createHash, randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { asError } from "../errors.js";
import { sealed, unsealed } from "./sealed-json.js";

interface FileFacts {
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A file that holds, byte for byte, what was saved. */
export interface Generation<Facts> {
  readonly facts: Facts;
  readonly filePath: string;
}

export type LoadedGeneration<Facts> =
  | { readonly outcome: "loaded"; readonly generation: Generation<Facts> }
  /** Nothing was saved yet. */
  | { readonly outcome: "none" }
  /** What is there must not be read. */
  | { readonly outcome: "refused"; readonly reason: string };

/**
 * Saves a file as the new generation of `name` in `folder`: written under a name of its own, flushed, checksummed from
 * what can be read back, then made the current one by renaming the manifest. A crash at any moment leaves the old
 * generation or the new one.
 *
 * @param check throws when the written file is not whole: some writers report success for what they did not write.
 */
export async function saveGeneration(
  folder: string,
  name: string,
  facts: object,
  write: (path: string) => Promise<void>,
  check: (path: string) => Promise<void> = async () => {},
): Promise<void> {
  const file = `${name}-${randomUUID()}.bin`;
  const path = join(folder, file);
  const manifest = manifestPath(folder, name);
  const temporaryManifest = join(folder, `${name}-${randomUUID()}.tmp`);
  try {
    await write(path);
    await flush(path);
    await check(path);
    const { size } = await stat(path);
    const whole = { ...facts, file, sizeBytes: size, sha256: await sha256(path) };
    const handle = await open(temporaryManifest, "wx");
    try {
      await handle.writeFile(sealed(whole));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporaryManifest, manifest);
  } catch (error) {
    await Promise.all([rm(path, { force: true }), rm(temporaryManifest, { force: true })]);
    throw error;
  }
  await flush(folder).catch(() => {}); // Windows cannot flush a folder
  await removeOthers(folder, name, file);
}

/**
 * The current generation of `name`, if its manifest and its bytes are those that were saved. Whatever keeps it from being read
 * is a reason to make it again, and no error: all that it holds is in the store.
 *
 * @param factsOf reads the facts of a manifest, `undefined` where it has another format.
 */
export async function loadGeneration<Facts>(
  folder: string,
  name: string,
  factsOf: (manifest: object) => Facts | undefined,
): Promise<LoadedGeneration<Facts>> {
  let reason = "";
  // A writer may have replaced the file between the reading of its manifest and its own: the second look finds the new.
  for (let look = 0; look < 2; look++) {
    let text: string;
    try {
      text = await readFile(manifestPath(folder, name), "utf8");
    } catch (error) {
      if (isMissing(error)) return { outcome: "none" };
      return { outcome: "refused", reason: `its manifest cannot be read: ${asError(error).message}` };
    }
    try {
      const manifest = manifestIn(text);
      const facts = factsOf(manifest);
      if (facts === undefined || !hasFileFacts(manifest)) {
        return { outcome: "refused", reason: "its manifest has another format" };
      }
      const { file, sizeBytes, sha256: expected } = manifest;
      const filePath = join(folder, file);
      const { size } = await stat(filePath);
      if (size !== sizeBytes) reason = `${file} has ${size} bytes instead of ${sizeBytes}`;
      else if ((await sha256(filePath)) !== expected) reason = `${file} is not what was written: its checksum differs`;
      else return { outcome: "loaded", generation: { facts, filePath } };
      return { outcome: "refused", reason };
    } catch (error) {
      reason = asError(error).message;
      if (!isMissing(error)) break;
    }
  }
  return { outcome: "refused", reason };
}

function manifestIn(text: string): object {
  try {
    return unsealed(text);
  } catch (error) {
    throw new Error(`its manifest is not what was written: ${asError(error).message}`, { cause: error });
  }
}

function hasFileFacts(manifest: object): manifest is FileFacts {
  const { file, sizeBytes, sha256: sum } = manifest as Partial<FileFacts>;
  const named = typeof file === "string" && /^[\w-]+\.bin$/.test(file);
  return named && Number.isSafeInteger(sizeBytes) && sizeBytes! > 0 && typeof sum === "string";
}

function manifestPath(folder: string, name: string): string {
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
    // Read piece by piece into one buffer: a file of any size costs 1 MB, and hashing a piece takes less than 1 ms.
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

async function removeOthers(folder: string, name: string, current: string): Promise<void> {
  const old = (await readdir(folder)).filter(
    (file) => file.startsWith(`${name}-`) && (file.endsWith(".bin") || file.endsWith(".tmp")) && file !== current,
  );
  await Promise.all(old.map((file) => rm(join(folder, file), { force: true })));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
