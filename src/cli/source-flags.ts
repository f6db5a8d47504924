import { resolve } from "node:path";
import { allSources } from "../load/all-sources.js";
import { readPath } from "../load/read-file.js";
import type { ReadFolderOptions } from "../load/read-folder.js";
import type { DocumentSource } from "../load/source.js";
import { isWebAddress } from "../load/web/web-address.js";
import type { World } from "./command-context.js";

/** Flags that say which files of the paths are meant. */
export interface SourceFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Documents of all paths of a command line, relative to the current folder, and of addresses of pages, as one source. */
export function sourceOf({ directory }: World, paths: readonly string[], flags: SourceFlags): DocumentSource {
  const place = (path: string) => (isWebAddress(path) ? path : resolve(directory, path));
  return allSources(paths.map((path) => readPath(place(path), readingOptions(flags))));
}

function readingOptions({ include, exclude }: SourceFlags): ReadFolderOptions {
  return { ...(include && { include: [...include] }), ...(exclude && { exclude: [...exclude] }) };
}
