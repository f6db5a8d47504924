import { readdir, type Dirent } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { LoadError } from "../errors.js";
import { gitignored } from "./gitignore.js";

export interface WalkOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly gitignore: boolean;
  readonly signal: AbortSignal;
}

/**
 * Files under a folder, as relative paths with `/`, in code unit order. Files and folders whose name starts with a dot,
 * `node_modules`, and symbolic links are passed over: a link may lead in a circle, and what it leads to has a name of its
 * own.
 *
 * @throws LoadError (`unreadable`) when a folder cannot be listed: its files would look as if they had vanished.
 */
export async function walk(folder: string, options: WalkOptions): Promise<string[]> {
  const { include, exclude, gitignore, signal } = options;
  const closed: { path: string; error: NodeJS.ErrnoException }[] = [];
  const { glob } = await import("tinyglobby");
  const found = await glob([...include, ...(gitignore ? ["**/.gitignore"] : [])], {
    cwd: folder,
    ignore: ["**/node_modules", ...exclude],
    expandDirectories: false,
    followSymbolicLinks: false,
    fs: { readdir: listing((path, error) => closed.push({ path, error })) },
    signal,
  });
  signal.throwIfAborted();
  const [refused] = closed;
  if (refused) {
    const { path, error } = refused;
    throw new LoadError(
      "unreadable",
      pathToFileURL(path).href,
      `The folder ${path} cannot be listed (${error.message}): allow it, or pass it over with exclude`,
      { cause: error },
    );
  }
  const isRules = (path: string) => posix.basename(path) === ".gitignore";
  const rules = new Map<string, string>();
  for (const path of found.filter(isRules)) {
    const parent = posix.dirname(path);
    rules.set(parent === "." ? "" : parent, await readFile(join(folder, path), "utf8"));
  }
  const leftOut = gitignored(rules);
  return found.filter((path) => !isRules(path) && !leftOut(path)).toSorted((a, b) => (a < b ? -1 : 1));
}

type Listed = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** `readdir` that tells of each folder it could not list; the walker itself goes on as if such a folder were empty. */
function listing(refused: (path: string, error: NodeJS.ErrnoException) => void): typeof readdir {
  const list = (path: string, options: { withFileTypes: true }, done: Listed) => {
    readdir(path, options, (error, entries) => {
      if (error && error.code !== "ENOENT") refused(path, error);
      done(error, entries);
    });
  };
  return list as unknown as typeof readdir;
}
