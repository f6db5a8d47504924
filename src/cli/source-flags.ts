import { resolve } from "node:path";
import { allSources } from "../load/all-sources.js";
import { readPath, type ReadPathOptions } from "../load/read-file.js";
import type { DocumentSource } from "../load/source.js";
import { isWebAddress } from "../load/web/web-address.js";
import { settingsOf, type StoreFlags, type World } from "./command-context.js";

/** Flags that say which documents of the paths are meant, and how they are read. */
export interface SourceFlags extends StoreFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Addresses are of sites. */
  readonly sitemap?: boolean;
  readonly requestsPerSecond?: number;
  readonly allowPrivate?: boolean;
  readonly refetch?: boolean;
}

/** Documents of all paths of a command line, relative to the current folder, and of addresses of pages, as one source. */
export function sourceOf(world: World, paths: readonly string[], flags: SourceFlags): DocumentSource {
  const place = (path: string) => (isWebAddress(path) ? path : resolve(world.directory, path));
  const options = readingOptions(flags, settingsOf(world, flags).rows);
  return allSources(paths.map((path) => readPath(place(path), options)));
}

function readingOptions(flags: SourceFlags, rows: ReadPathOptions["rows"]): ReadPathOptions {
  const { include, exclude, sitemap, requestsPerSecond, allowPrivate, refetch } = flags;
  return {
    ...(include && { include: [...include] }),
    ...(exclude && { exclude: [...exclude] }),
    ...(rows && { rows }),
    ...(sitemap !== undefined && { sitemap }),
    web: {
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
      ...(allowPrivate !== undefined && { allowPrivate }),
      ...(refetch !== undefined && { refetch }),
    },
  };
}
