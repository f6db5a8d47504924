import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { LoadError } from "../errors.js";
import { resolve } from "../options.js";
import type { Document } from "../types.js";
import { Formats } from "./formats.js";
import { withinFolder } from "./globs.js";
import { LoadOptions } from "./load-options.js";
import { readFiles, reportFailed, reportLoaded } from "./read-files.js";
import { mustBe, realPath } from "./real-path.js";
import { RowsSeen, isRow } from "./rows-seen.js";
import { hiddenSecrets, isNamedBy, mayHoldSecrets } from "./secrets.js";
import { isGenerated } from "./source-code.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";
import { walk } from "./walk.js";

export const ReadFolderOptions = LoadOptions.extend({
  /**
   * Globs of the files to read, relative to the folder, such as `guides/**`. A file whose ending a glob names, such as
   * `*.yaml`, is read as plain text when no loader knows it. Default: every file whose ending has a loader.
   */
  include: z.array(z.string().min(1)).min(1).optional(),
  /** Globs of the files to pass over, relative to the folder. Default: none. */
  exclude: z.array(z.string().min(1)).default([]),
  /** Pass over what `.gitignore` files inside the folder name. Default: true. */
  gitignore: z.boolean().default(true),
});
export type ReadFolderOptions = z.input<typeof ReadFolderOptions>;

/** In the message about a folder in which there is nothing to read: most endings that were found, and what is looked for. */
const mostEndings = 8;
const shownEndings = [".md", ".html", ".pdf", ".docx", ".xlsx", ".txt", ".csv", ".json", ".py", ".ts"];

/**
 * All documents in a folder and those below it: Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB, text, source code, and each row of CSV, JSON
 * lines and JSON arrays. Files that are no text, too large, blank, or of a kind without a loader are passed over with a
 * word, and so are lock files and minified code unless `include` is given, and what holds secrets by its name (`.env`,
 * `id_rsa`, `server.key`, `credentials.json`) unless `include` has its whole name. Several folders make one source of their own; give each its own `readFolder` where they
 * are also read alone, so that what vanishes from one is noticed.
 */
export function readFolder(paths: string | readonly string[], options: ReadFolderOptions = {}): DocumentSource {
  const { include, exclude, gitignore, loaders, ...loading } = resolve("readFolder", ReadFolderOptions, options);
  const formats = new Formats(loaders);
  const folders = [paths].flat().map(realPath);
  for (const folder of folders) withinFolder(include ?? [], folder);
  const addresses = folders.map((folder) => pathToFileURL(join(folder, "/")).href);
  const id = addresses.join(" ");
  const filtered = include !== undefined || exclude.length > 0;
  const seen = new RowsSeen();

  async function* read(context: ReadContext, only?: ReadonlySet<string>): AsyncGenerator<Document> {
    const { signal, report } = context;
    seen.start();
    const found = new Set<string>();
    for (const folder of folders) {
      await mustBe("folder", folder);
      const passedOver = (path: string, reason: string) =>
        report({ type: "skipped", uri: pathToFileURL(path).href, reason });
      const globs = { exclude, gitignore, include: include ?? ["**/*", ...hiddenSecrets] };
      const files = await walk(folder, { ...globs, signal, passedOver });
      for (const file of files) if (only?.has(join(folder, file)) ?? true) found.add(join(folder, file));
    }
    const reasons = new Map([...found].map((file) => [file, reasonToPassOver(file, formats, include)]));
    const files = [...found].filter((file) => reasons.get(file) === undefined);
    report({ type: "progress", what: "files-found", count: files.length });
    for (const [file, reason] of reasons) {
      if (reason !== undefined) report({ type: "skipped", uri: pathToFileURL(file).href, reason });
    }
    let passedOver = 0;
    const reading = { ...loading, source: id, signal, report, allRows: (uri: string) => seen.whole(uri) };
    for await (const outcome of readFiles(files, formats, reading)) {
      if ("document" in outcome) yield* reportLoaded(outcome, context);
      else if (outcome.error.code === "binary" || outcome.error.code === "too-large") {
        passedOver++;
        report({ type: "skipped", uri: outcome.error.uri, reason: outcome.error.message });
      } else {
        seen.fail();
        reportFailed(outcome.error, context);
      }
    }
    if (passedOver === files.length && !only) {
      throw new LoadError("empty", id, nothingToRead(folders, [...found], formats));
    }
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
          vanished: (uri) => within(uri) && files.has(fileURLToPath(uri)) && (!isRow(uri) || seen.isGone(uri)),
        }),
    },
    vanished: (uri, source) => {
      // A row that has an address of its own: nobody knows which file it was in, so all must have been seen.
      if (!within(uri)) return source === id && !filtered && seen.complete;
      if (isRow(uri)) return seen.isGone(uri);
      // A reading through globs sees a part: what it did not meet may just not match, so the disk is asked.
      return !(filtered && existsSync(new URL(uri)));
    },
  });
}

/** Why a file is not read, if it is not: no loader knows its ending, nor did the caller name it. */
function reasonToPassOver(file: string, formats: Formats, include: readonly string[] | undefined): string | undefined {
  const ending = extname(file).toLowerCase();
  if (mayHoldSecrets(file) && !isNamedBy(include, file)) {
    return "by its name it holds secrets: give its whole name to include to read it";
  }
  if (formats.ofFile(file) === undefined && !include?.some((glob) => glob.toLowerCase().endsWith(ending))) {
    return `no loader for ${ending} files`;
  }
  return include === undefined && isGenerated(file) ? "made by a machine: name it with include to read it" : undefined;
}

function nothingToRead(folders: readonly string[], files: readonly string[], formats: Formats): string {
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
    `Nothing to read in ${folders.join(", ")}: looked for ${shownEndings.join(" ")} and ` +
    `${formats.endings.length - shownEndings.length} other endings, found ${there || "no files"}. Names that start with a ` +
    `dot, node_modules, links, and what .gitignore names are passed over`
  );
}
