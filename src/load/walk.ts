import { readdir, type Dirent } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { asError, LoadError } from "../errors.js";
import { gitignored } from "./gitignore.js";
import { unreadableName } from "./real-path.js";

export interface WalkOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly gitignore: boolean;
  readonly signal: AbortSignal;
  /** Is told of each folder that nobody can open by the name it has. */
  readonly passedOver?: (path: string, reason: string) => void;
}

/**
 * Files under a folder, as relative paths with `/`, in code unit order. Files and folders whose name starts with a dot,
 * `node_modules`, and symbolic links are passed over: a link may lead in a circle, and what it leads to has a name of its
 * own.
 *
 * @throws LoadError (`unreadable`) when a folder cannot be listed: its files would look as if they had vanished.
 */
export async function walk(folder: string, options: WalkOptions): Promise<string[]> {
  const { include, exclude, gitignore, signal, passedOver } = options;
  const closed: { path: string; error: NodeJS.ErrnoException }[] = [];
  const { glob } = await import("tinyglobby");
  const names = new LineNames();
  const refuse = (path: string, error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") closed.push({ path, error });
    // What is gone by now is no loss.
    else if (path.includes("\u{fffd}")) passedOver?.(path, unreadableName);
  };
  const matched = await glob([...include, ...(gitignore ? ["**/.gitignore"] : [])].map(standIn), {
    cwd: folder,
    ignore: ["**/node_modules", ...exclude].map(standIn),
    expandDirectories: false,
    followSymbolicLinks: false,
    fs: { readdir: listing(names, refuse) },
    signal,
  });
  signal.throwIfAborted();
  const found = matched.map((path) => names.real(path));
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
    rules.set(parent === "." ? "" : parent, await rulesIn(join(folder, path)));
  }
  const leftOut = gitignored(rules);
  return found.filter((path) => !isRules(path) && !leftOut(path)).toSorted((a, b) => (a < b ? -1 : 1));
}

async function rulesIn(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/^\u{feff}/u, "");
  } catch (cause) {
    const message = `${path} cannot be read (${asError(cause).message}): allow it, or set gitignore to false`;
    throw new LoadError("unreadable", pathToFileURL(path).href, message, { cause });
  }
}

type Listed = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** `readdir` that tells of each folder it could not list; the walker itself goes on as if such a folder were empty. */
function listing(names: LineNames, refused: (path: string, error: NodeJS.ErrnoException) => void): typeof readdir {
  const list = (path: string, options: { withFileTypes: true }, done: Listed) => {
    const folder = names.real(path);
    readdir(folder, options, (error, entries) => {
      if (error) refused(folder, error);
      done(error, error ? entries : entries.map((entry) => names.shown(entry)));
    });
  };
  return list as unknown as typeof readdir;
}

/**
 * Names that hold a line end are shown to the globs with another character in its place: in their regular expressions a
 * `*` stands for any character but those, and a file could not be excluded.
 */
class LineNames {
  readonly #real = new Map<string, string>();

  shown(entry: Dirent): Dirent {
    const name = standIn(entry.name);
    if (name === entry.name) return entry;
    this.#real.set(name, entry.name);
    return Object.create(entry, { name: { value: name, enumerable: true } }) as Dirent;
  }

  real(path: string): string {
    if (this.#real.size === 0) return path;
    return path
      .split("/")
      .map((name) => this.#real.get(name) ?? name)
      .join("/");
  }
}

/** Each line end as a character for private use. */
function standIn(text: string): string {
  return text.replace(/[\n\r\u2028\u2029]/gu, (end) => String.fromCodePoint(0xe000 + (end.charCodeAt(0) & 0xff)));
}
