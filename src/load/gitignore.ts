import ignore, { type Ignore } from "ignore";

/** As git sets `core.ignorecase` where it makes a repository. */
const ignoreCase = process.platform === "win32" || process.platform === "darwin";

/**
 * Whether git would leave a file out, by the `.gitignore` files of a folder: those of deeper folders are asked later and
 * win, and what lies in a folder that is left out stays out.
 *
 * @param rules - content of each `.gitignore`, by the path of its folder relative to the root: `""`, `"packages/app"`
 */
export function gitignored(rules: ReadonlyMap<string, string>): (path: string) => boolean {
  const matchers = new Map<string, Ignore>();
  for (const [folder, content] of rules) matchers.set(folder, ignore({ ignoreCase }).add(content));
  const folders = new Map<string, boolean>([["", false]]);

  const leftOut = (path: string, isFolder: boolean): boolean => {
    const parent = parentOf(path);
    if (folderLeftOut(parent)) return true;
    let result = false;
    for (const folder of ancestors(parent)) {
      const matcher = matchers.get(folder);
      if (!matcher) continue;
      const below = (full: string) => (folder === "" ? full : full.slice(folder.length + 1));
      // The package also asks for the folders above; where those were let in again further down, its answer is theirs.
      if (parent !== folder && matcher.test(`${below(parent)}/`).ignored) continue;
      const relative = below(path);
      const { ignored, unignored } = matcher.test(isFolder ? `${relative}/` : relative);
      if (ignored) result = true;
      else if (unignored) result = false;
    }
    return result;
  };
  const folderLeftOut = (path: string): boolean => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const result = leftOut(path, true);
    folders.set(path, result);
    return result;
  };
  return (path) => leftOut(path, false);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A folder and those above it, the root (`""`) first. */
function ancestors(folder: string): string[] {
  const parts = folder === "" ? [] : folder.split("/");
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}
