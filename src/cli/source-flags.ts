import { relative, resolve, sep } from "node:path";
import { OptionsError } from "../errors.js";
import { allSources } from "../load/all-sources.js";
import { literalGlob } from "../load/globs.js";
import { readPath, type ReadPathOptions } from "../load/read-file.js";
import { realPath } from "../load/real-path.js";
import type { DocumentSource } from "../load/source.js";
import { isWebAddress } from "../load/web/web-address.js";
import { settingsOf, storePath, type StoreFlags, type World } from "./command-context.js";

/** Flags that say which documents of the paths are meant, and how they are read. */
export interface SourceFlags extends StoreFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly maxFileBytes?: number;
  /** Seconds. */
  readonly fileTimeout?: number;
  /** Addresses are of sites. */
  readonly sitemap?: boolean;
  readonly requestsPerSecond?: number;
  readonly allowPrivate?: boolean;
  readonly refetch?: boolean;
}

/** Documents of all paths of a command line, relative to the current folder, and of addresses of pages, as one source. */
export function sourceOf(world: World, paths: readonly string[], flags: SourceFlags): DocumentSource {
  const settings = settingsOf(world, flags);
  const options = readingOptions(flags, settings.rows);
  const store = realPath(storePath(world, settings));
  const source = (path: string) => {
    if (isWebAddress(path)) return readPath(path, options);
    const place = resolve(world.directory, path);
    return readPath(place, {
      ...options,
      exclude: [...(options.exclude ?? []), ...storeWithin(realPath(place), store)],
    });
  };
  return allSources(paths.map(source));
}

/**
 * Globs of a store that lies in the folder: its files change with every run, and are nobody's documents.
 *
 * @throws OptionsError when the folder itself is the store's.
 */
function storeWithin(folder: string, store: string): readonly string[] {
  if (folder === store) {
    throw new OptionsError(
      "options",
      `${folder} would be read and hold the store too: give the store a folder of its own`,
    );
  }
  const within = relative(folder, store).split(sep);
  // What starts with a dot is passed over anyway.
  return within.some((part) => part.startsWith(".")) ? [] : [`${literalGlob(within.join("/"))}/**`];
}

function readingOptions(flags: SourceFlags, rows: ReadPathOptions["rows"]): ReadPathOptions {
  const { include, exclude, maxFileBytes, fileTimeout, sitemap, requestsPerSecond, allowPrivate, refetch } = flags;
  return {
    ...(include && { include: [...include] }),
    ...(exclude && { exclude: [...exclude] }),
    ...(rows && { rows }),
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    ...(fileTimeout !== undefined && { timeoutMs: Math.round(fileTimeout * 1000) }),
    ...(sitemap !== undefined && { sitemap }),
    web: {
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
      ...(allowPrivate !== undefined && { allowPrivate }),
      ...(refetch !== undefined && { refetch }),
    },
  };
}
