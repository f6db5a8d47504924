import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { LoadError } from "../errors.js";

/** Why a file or folder cannot be opened: what is no UTF-8 in its name is lost in reading it. */
export const unreadableName = "its name is not valid UTF-8: rename it";

/** A path's one true name: absolute, links followed. What is not there is said when it is read. */
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
    throw new LoadError("missing", uri, `There is no ${kind} at ${path}${hint(path)}`, { cause });
  });
  if (!found.isDirectory() && !found.isFile()) {
    // Opening a pipe waits for somebody to write into it, which may be never.
    throw new LoadError("unsupported", uri, `${path} is neither a file nor a folder: it is not read`);
  }
  if (found.isDirectory() !== (kind === "folder")) {
    const other = kind === "folder" ? "file: read it with readFile" : "folder: read it with readFolder";
    throw new LoadError("missing", uri, `${path} is a ${other}`);
  }
}

/** A pattern that no shell has unfolded is a name like any other. */
function hint(path: string): string {
  return /[*?]/.test(path) ? ": a pattern goes into include, the folder alone into the path" : "";
}
