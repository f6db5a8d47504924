import { realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { holdsAddress, schemeOf } from "../../core/options.js";
import { LoadError, OptionsError } from "../../core/errors.js";

/** Why a file or folder cannot be opened: bytes of its name that are not UTF-8 are lost when the folder is listed. */
export const unreadableName = "its name is not valid UTF-8: rename it";

/**
 * A path's canonical form: absolute, links followed. A path that does not exist is reported when it is read.
 *
 * @throws OptionsError for an address in the place of a path.
 */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync.native(absolute);
  } catch {
    refuseAddress(path);
    return absolute;
  }
}

/**
 * Refuses what does not exist and is no path but an address: resolved and reported as a missing file, it would show its password.
 *
 * @throws OptionsError without what follows the scheme.
 */
export function refuseAddress(path: string): void {
  const scheme = schemeOf(path);
  if (scheme === undefined && !holdsAddress(path)) return;
  const problem =
    scheme === undefined
      ? "The path is no file or folder, and holds the address of a server or its password"
      : scheme.toLowerCase() === "file"
        ? "There is no file or folder of that name: write the path without file://"
        : `Documents are not read from ${scheme}: addresses`;
  const hint =
    "readPath() and the command line take a path, https://…, s3://bucket/…, and git: with the path of a repository";
  throw new OptionsError("options", `${problem}. ${hint}`, { option: "path" });
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
