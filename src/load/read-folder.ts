import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { LoadError } from "../errors.js";
import { resolve } from "../options.js";
import type { Document } from "../types.js";
import { knownEndings, loaderFor } from "./loaders.js";
import { readFiles, reportFailed, reportLoaded } from "./read-files.js";
import { mustBe, realPath } from "./real-path.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";
import { walk } from "./walk.js";

export const ReadFolderOptions = z.strictObject({
  /**
   * Globs of the files to read, relative to the folder, such as `guides/**`. A file whose ending a glob names, such as
   * `*.yaml`, is read as plain text when no loader knows it. Default: every file whose ending has a loader.
   */
  include: z.array(z.string().min(1)).min(1).optional(),
  /** Globs of the files to pass over, relative to the folder. Default: none. */
  exclude: z.array(z.string().min(1)).default([]),
  /** Pass over what `.gitignore` files inside the folder name. Default: true. */
  gitignore: z.boolean().default(true),
  /** Larger files are passed over. Default 50,000,000. */
  maxFileBytes: z.int().min(1).default(50_000_000),
});
export type ReadFolderOptions = z.input<typeof ReadFolderOptions>;

/** Endings named in the message about a folder in which there is nothing to read. */
const mostEndings = 8;

/**
 * All documents in a folder and those below it. Files that are no text, too large, blank, or of a kind without a loader
 * are passed over with a word. Several folders make one source of their own; give each its own `readFolder` where they
 * are also read alone, so that what vanishes from one is noticed.
 */
export function readFolder(paths: string | readonly string[], options: ReadFolderOptions = {}): DocumentSource {
  const { include, maxFileBytes, ...globs } = resolve("readFolder", ReadFolderOptions, options);
  const folders = [paths].flat().map(realPath);
  const addresses = folders.map((folder) => pathToFileURL(join(folder, "/")).href);
  const id = addresses.join(" ");
  const filtered = include !== undefined || globs.exclude.length > 0;

  async function* read(context: ReadContext, only?: ReadonlySet<string>): AsyncGenerator<Document> {
    const { signal, report } = context;
    const found = new Set<string>();
    for (const folder of folders) {
      await mustBe("folder", folder);
      const files = await walk(folder, { ...globs, include: include ?? ["**/*"], signal });
      for (const file of files) if (only?.has(join(folder, file)) ?? true) found.add(join(folder, file));
    }
    const files = [...found].filter((file) => isReadable(file, include));
    report({ type: "progress", what: "files-found", count: files.length });
    for (const file of found) {
      if (isReadable(file, include)) continue;
      report({ type: "skipped", uri: pathToFileURL(file).href, reason: `no loader for ${extname(file)} files` });
    }
    let passedOver = 0;
    for await (const outcome of readFiles(files, { source: id, maxFileBytes, signal })) {
      if ("document" in outcome) yield* reportLoaded(outcome, context);
      else if (outcome.error.code === "binary" || outcome.error.code === "too-large") {
        passedOver++;
        report({ type: "skipped", uri: outcome.error.uri, reason: outcome.error.message });
      } else reportFailed(outcome.error, context);
    }
    if (passedOver === files.length && !only) throw new LoadError("empty", id, nothingToRead(folders, [...found]));
  }

  const within = (uri: string) => addresses.some((address) => uri.startsWith(address));
  return documentSource({
    id,
    read: (context) => read(context),
    files: {
      roots: folders,
      only: (files) =>
        documentSource({
          id,
          read: (context) => read(context, files),
          vanished: (uri) => within(uri) && files.has(fileURLToPath(uri)),
        }),
    },
    // A reading through globs sees a part: what it did not meet may just not match, so the disk is asked.
    vanished: (uri) => within(uri) && !(filtered && existsSync(new URL(uri))),
  });
}

/** Whether a loader knows the file's ending, or the caller named it. */
function isReadable(file: string, include: readonly string[] | undefined): boolean {
  const ending = extname(file).toLowerCase();
  return loaderFor(ending) !== undefined || (include?.some((glob) => glob.toLowerCase().endsWith(ending)) ?? false);
}

function nothingToRead(folders: readonly string[], files: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const ending = extname(file).toLowerCase() || "no ending";
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  const there = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, mostEndings)
    .map(([ending, count]) => `${count} with ${ending}`)
    .join(", ");
  return (
    `Nothing to read in ${folders.join(", ")}: looked for ${knownEndings.join(" ")} and names without an ending, ` +
    `found ${there || "no files"}. Names that start with a dot, node_modules, links, and what .gitignore names are ` +
    `passed over`
  );
}
