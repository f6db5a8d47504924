import { realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { LoadError } from "../../core/errors.js";

/** Why a file or folder cannot be opened: bytes of its name that are not UTF-8 are lost when the folder is listed. */
export const unreadableName = "its name is not valid UTF-8: rename it";

/** A path's canonical form: absolute, links followed. A path that does not exist is reported when it is read. */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync.native(absolute);
  } catch {
    return absolute;
  }
}

/** @throws LoadError (`missing`) when there is no such path, or not of that kind, (`unsupported`) for pipes and devices. */
export async function mustBe(kind: "file" | "folder", path: string): Promise<void> {
  const uri = pathToFileURL(path).href;
  const found = await stat(path).catch((cause: unknown) => {
    // A pattern that no shell has expanded is a name like any other.
    const hint = /[*?]/.test(path) ? ": a pattern is not a path. Name the folder, and include the pattern" : "";
    throw new LoadError("missing", uri, `There is no ${kind} at ${path}${hint}`, { cause });
  });
  if (!found.isDirectory() && !found.isFile()) {
    // Opening a pipe waits for somebody to write into it, which may never happen.
    throw new LoadError("unsupported", uri, `${path} is neither a file nor a folder: it is not read`);
  }
  if (found.isDirectory() !== (kind === "folder")) {
    const other = kind === "folder" ? "file: read it with readFile" : "folder: read it with readFolder";
    throw new LoadError("missing", uri, `${path} is a ${other}`);
  }
}

/** Whether there is no file at an address. One in a folder that may not be looked into may be there all the same. */
export function isMissing(uri: string): boolean {
  try {
    statSync(new URL(uri));
    return false;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR";
  }
}
