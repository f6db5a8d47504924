import { relative, resolve, sep } from "node:path";
import { OptionsError } from "../errors.js";

const magic = /[*?[\]{}()!+@\\]/;

/** The glob of one path alone. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}()!+@\\]/g, "\\$&");
}

/**
 * Globs that stay within a folder. One that leads out of it would read what nobody named: `/tmp/**` all of `/tmp`.
 *
 * @throws OptionsError for the first that leads out, by its path before the first wildcard.
 */
export function withinFolder(globs: readonly string[], folder: string): readonly string[] {
  const outside = globs.find((glob) => leadsOut(glob, folder));
  if (outside === undefined) return globs;
  throw new OptionsError(
    "options",
    `readFolder: include ${JSON.stringify(outside)} leads out of ${folder}: globs are relative to the folder. Name the other folder too, as a path of its own`,
  );
}

function leadsOut(glob: string, folder: string): boolean {
  const parts = glob.split("/");
  const wild = parts.findIndex((part) => magic.test(part));
  const fixed = wild === -1 ? parts : parts.slice(0, wild);
  const from = relative(folder, resolve(folder, fixed.join("/") || (glob.startsWith("/") ? "/" : ".")));
  return from === ".." || from.startsWith(`..${sep}`) || parts.slice(fixed.length).includes("..");
}
