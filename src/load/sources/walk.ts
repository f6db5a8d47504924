import { readdir, type Dirent } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix, relative, resolve, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Ignore } from "ignore";
import { asError, LoadError, OptionsError, systemMessage } from "../../core/errors.js";
import { unreadableName } from "./real-path.js";

export interface WalkOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly gitignore: boolean;
  readonly signal: AbortSignal;
  /** Called with each folder that cannot be opened by the name it has. */
  readonly onSkipped?: (path: string, reason: string) => void;
}

/** The files under a folder, and the folders whose files are unknown. */
export interface Walked {
  /** Relative paths with `/`, in code unit order. */
  readonly files: readonly string[];
  /** Absolute paths of folders that cannot be listed, or whose `.gitignore` cannot be read, each with its error. */
  readonly closed: ReadonlyMap<string, LoadError>;
}

/**
 * Lists the files under a folder. Files and folders whose name starts with
 * a dot, `node_modules`, and symbolic links are passed over: a link may lead in a circle, and its target has a name of its
 * own. A folder below it that is closed costs its own files alone.
 *
 * @throws LoadError (`unreadable`) when the folder itself is closed.
 */
export async function walk(folder: string, options: WalkOptions): Promise<Walked> {
  const { include, exclude, gitignore, signal, onSkipped } = options;
  const closed = new Map<string, LoadError>();
  const { glob } = await import("tinyglobby");
  const names = new NamesWithLineEnds();
  const onRefused = (path: string, error: NodeJS.ErrnoException) => {
    // A folder that was deleted meanwhile needs no listing.
    if (error.code !== "ENOENT") closed.set(resolve(path), unlistable(path, error));
    else if (path.includes("\u{fffd}")) onSkipped?.(path, unreadableName);
  };
  const matched = await glob([...include, ...(gitignore ? ["**/.gitignore"] : [])].map(replaceLineEnds), {
    cwd: folder,
    ignore: ["**/node_modules", ...exclude].map(replaceLineEnds),
    expandDirectories: false,
    followSymbolicLinks: false,
    fs: { readdir: listing(names, onRefused) },
    signal,
  });
  signal.throwIfAborted();
  const found = matched.map((path) => names.real(path));
  const isRules = (path: string) => posix.basename(path) === ".gitignore";
  const rules = new Map<string, string>();
  for (const path of found.filter(isRules)) {
    const content = await readRules(join(folder, path), found);
    if (content instanceof LoadError) closed.set(resolve(folder, parentOf(path)), content);
    else rules.set(parentOf(path), content);
  }
  const refused = closed.get(resolve(folder));
  if (refused) throw refused;
  const isIgnored = await ignoredBy(rules);
  const isClosed = (path: string) => ancestors(parentOf(path)).some((above) => closed.has(resolve(folder, above)));
  const files: string[] = [];
  for (const [index, path] of found.entries()) {
    // Matching many files with many rules takes long, and a signal must be noticed meanwhile.
    if (index % 100 === 99) await setImmediate();
    signal.throwIfAborted();
    if (!isRules(path) && !isIgnored(path) && !(closed.size > 0 && isClosed(path))) files.push(path);
  }
  return { files: files.toSorted((a, b) => (a < b ? -1 : 1)), closed };
}

function unlistable(path: string, cause: Error): LoadError {
  const message = `The folder ${path} cannot be listed (${systemMessage(cause)}): allow it, or exclude it`;
  return new LoadError("unreadable", pathToFileURL(path).href, message, { cause });
}

/** The content, or why it is unknown which files of the folder are to be passed over. */
async function readRules(path: string, found: readonly string[]): Promise<string | LoadError> {
  try {
    const content = (await readFile(path, "utf8")).replace(/^\u{feff}/u, "");
    const slow = slowRule(content, found);
    if (slow === undefined) return content;
    const message = `${path} has a rule that takes too long to match: ${slow}. Use fewer wildcards, or set gitignore to false`;
    return new LoadError("unreadable", pathToFileURL(path).href, message);
  } catch (cause) {
    const message = `${path} cannot be read (${systemMessage(asError(cause))}): allow it, or set gitignore to false`;
    return new LoadError("unreadable", pathToFileURL(path).href, message, { cause });
  }
}

/** Ways to divide a path among the wildcards of a rule, all of which the engine tries when it does not match. */
const maxWays = 50_000;
/** Characters of a rule that a message shows: no person writes a longer rule. */
const maxShownCharacters = 100;

/** The first rule that would take too long to match one of these paths, if any. */
function slowRule(content: string, paths: readonly string[]): string | undefined {
  const longest = (lengthOf: (path: string) => number) => paths.reduce((max, path) => Math.max(max, lengthOf(path)), 0);
  const depth = longest((path) => path.split("/").length);
  const nameLength = longest((path) => posix.basename(path).length);
  const count = (rule: string, wildcard: RegExp) => rule.match(wildcard)?.length ?? 0;
  const rule = content
    .split(/\r?\n/)
    // A star before a letter ends at the first such letter, so that there is one way alone.
    .find((glob) => ways(depth, count(glob, /\*\*\//g)) * ways(nameLength, count(glob, /\*(?=[?[])/g)) > maxWays);
  return rule?.slice(0, maxShownCharacters);
}

/** Ways to choose `wildcards` places among `length`, or a number beyond the limit. */
function ways(length: number, wildcards: number): number {
  let result = 1;
  for (let index = 0; index < Math.min(wildcards, length) && result <= maxWays; index++)
    result *= (length - index) / (index + 1);
  return result;
}

type Listed = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** `readdir` that reports each folder it could not list; the walker itself goes on as if such a folder were empty. */
function listing(
  names: NamesWithLineEnds,
  onRefused: (path: string, error: NodeJS.ErrnoException) => void,
): typeof readdir {
  const list = (path: string, options: { withFileTypes: true }, done: Listed) => {
    const folder = names.real(path);
    readdir(folder, options, (error, entries) => {
      if (error) onRefused(folder, error);
      done(error, error ? entries : entries.map((entry) => names.shown(entry)));
    });
  };
  return list as unknown as typeof readdir;
}

/**
 * Shows the globs another character in place of each line end in a name: in their regular expressions a `*` matches any
 * character but line ends, and a file with one could not be excluded.
 */
class NamesWithLineEnds {
  readonly #real = new Map<string, string>();

  shown(entry: Dirent): Dirent {
    const name = replaceLineEnds(entry.name);
    if (name === entry.name) return entry;
    this.#real.set(name, entry.name);
    return Object.create(entry, { name: { value: name, enumerable: true } }) as Dirent;
  }

  real(path: string): string {
    if (this.#real.size === 0) return path;
    const names = path.split("/").map((name) => this.#real.get(name) ?? name);
    return names.join("/");
  }
}

/** Each line end becomes a private-use character. */
function replaceLineEnds(text: string): string {
  return text.replace(/[\n\r\u2028\u2029]/gu, (end) => String.fromCodePoint(0xe000 + (end.charCodeAt(0) & 0xff)));
}

/** Git's own choice of `core.ignorecase` for a new repository. */
const ignoreCase = process.platform === "win32" || process.platform === "darwin";

/**
 * Whether git would ignore a file, by the `.gitignore` files of a folder: those of deeper folders are asked later and win,
 * and files in an ignored folder stay ignored.
 *
 * @param rules content of each `.gitignore`, by the path of its folder relative to the root: `""`, `"packages/app"`
 */
async function ignoredBy(rules: ReadonlyMap<string, string>): Promise<(path: string) => boolean> {
  if (rules.size === 0) return () => false;
  // Loaded only here: the first package in the form of CommonJS takes 4 MB, which a process that only searches is spared.
  const { default: ignore } = await import("ignore");
  const matchers = new Map<string, Ignore>();
  for (const [folder, content] of rules) matchers.set(folder, ignore({ ignoreCase }).add(content));
  const folders = new Map<string, boolean>([["", false]]);

  const isIgnored = (path: string, isFolder: boolean): boolean => {
    const parent = parentOf(path);
    if (isIgnoredFolder(parent)) return true;
    let result = false;
    for (const folder of ancestors(parent)) {
      const matcher = matchers.get(folder);
      if (!matcher) continue;
      const below = (full: string) => (folder === "" ? full : full.slice(folder.length + 1));
      // The package also asks for the folders above; where a deeper file let those in again, its answer is theirs.
      if (parent !== folder && matcher.test(`${below(parent)}/`).ignored) continue;
      const { ignored, unignored } = matcher.test(isFolder ? `${below(path)}/` : below(path));
      if (ignored || unignored) result = ignored;
    }
    return result;
  };
  const isIgnoredFolder = (path: string): boolean => {
    const known = folders.get(path) ?? isIgnored(path, true);
    folders.set(path, known);
    return known;
  };
  return (path) => isIgnored(path, false);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A folder and those above it, the root (`""`) first. */
function ancestors(folder: string): string[] {
  const parts = folder === "" ? [] : folder.split("/");
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}

/** A glob that matches this path alone. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}()!+@\\]/g, "\\$&");
}

/**
 * Refuses globs that lead out of a folder. They would read files that nobody named: `/tmp/**` reads all of `/tmp`.
 *
 * @throws OptionsError for the first that leads out, by its path before the first wildcard.
 */
export function withinFolder(globs: readonly string[], folder: string): void {
  const outside = globs.find((glob) => leadsOut(glob, folder));
  if (outside === undefined) return;
  throw new OptionsError(
    "options",
    `the glob ${JSON.stringify(outside)} leads out of ${folder}: globs are relative to the folder. Name the other folder too, as a path of its own`,
    { call: "readFolder" },
  );
}

function leadsOut(glob: string, folder: string): boolean {
  const parts = glob.split("/");
  const wild = parts.findIndex((part) => /[*?[\]{}()!+@\\]/.test(part));
  const fixed = wild === -1 ? parts : parts.slice(0, wild);
  const from = relative(folder, resolve(folder, fixed.join("/") || (glob.startsWith("/") ? "/" : ".")));
  return from === ".." || from.startsWith(`..${sep}`) || parts.slice(fixed.length).includes("..");
}
