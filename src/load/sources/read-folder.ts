import { basename, extname, join, posix, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { LoadError } from "../../core/errors.js";
import { listOption, optionsOf, resolve } from "../../core/options.js";
import type { Document } from "../../core/types.js";
import { Formats } from "../formats/formats.js";
import { noLoaderReason } from "../formats/conversions.js";
import { loadFilesOptions, type LoadFilesOptions } from "./load-options.js";
import { isMissing, mustBe, realPath } from "./real-path.js";
import { RowsSeen, isRow } from "./rows-seen.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";
import { generated, hiddenSecrets, isKeyFile, mayHoldSecrets } from "./unwanted-names.js";
import { walk, withinFolder } from "./walk.js";

export interface ReadFolderOptions extends LoadFilesOptions {
  /**
   * Globs of the files to read, relative to the folder, such as `guides/**`. A file whose ending a glob names, such as
   * `*.yaml`, is read as plain text when no loader knows it. Default: every file whose ending has a loader.
   */
  readonly include?: readonly string[];
  /** Globs of the files to pass over, relative to the folder. Default: none. */
  readonly exclude?: readonly string[];
  /** Pass over files that `.gitignore` files inside the folder name. Default: true. */
  readonly gitignore?: boolean;
}

/** @internal */
export const readFolderOptions = optionsOf<ReadFolderOptions>()({
  ...loadFilesOptions.shape,
  include: listOption(z.array(z.string().min(1)).min(1)).optional(),
  exclude: listOption(z.array(z.string().min(1))).default([]),
  gitignore: z.boolean().default(true),
});

/**
 * Reads all documents in a folder and those below it: Markdown, HTML, PDF, office files of today and of before 2007, EPUB,
 * markup of documentation, notebooks, OpenAPI, subtitles, mail with its attachments, archives, feeds, text, source code, and
 * each row of CSV, JSON, Parquet and SQLite. Files that are not text, too large, blank, or of a
 * kind without a loader are passed over and reported. So are lock files and minified code unless `include` is given, and
 * files whose names say that they hold secrets (`.env`, `id_rsa`, `server.key`, `credentials.json`) unless `include` has
 * their whole name. Several folders make one source of their own; give each its own `readFolder` where they are also read
 * alone, so that files that vanish from one are noticed.
 *
 * @example
 * ```ts
 * import { readFolder } from "citewell";
 * const source = readFolder(["./docs", "./guides"], { include: ["*.md"], metadata: { team: "north" } });
 * ```
 */
export function readFolder(paths: string | readonly string[], options: ReadFolderOptions = {}): DocumentSource {
  const { include, exclude, gitignore, loaders, recognizer, ...loading } = resolve(
    "readFolder",
    readFolderOptions,
    options,
  );
  const formats = new Formats(loaders, recognizer, loading.pictures?.reader.model);
  const folders = [paths].flat().map(realPath);
  for (const folder of folders) withinFolder(include ?? [], folder);
  const addresses = folders.map((folder) => pathToFileURL(join(folder, "/")).href);
  const id = addresses.join(" ");
  const filtered = include !== undefined || exclude.length > 0;
  const seen = new RowsSeen();
  /** Addresses of the folders that the last run could not look into. */
  let closed: string[] = [];

  async function* read(context: ReadContext, only?: ReadonlySet<string>): AsyncGenerator<Document> {
    const { signal, report, files: memory, isPlan, budget } = context;
    const { readFiles, reportFailed, reportOutcomes } = await import("./read-files.js");
    const { firstBytes } = await import("./changed-files.js");
    const reportSkipped = (path: string, reason: string) =>
      report({ type: "skipped", uri: pathToFileURL(path).href, reason });
    seen.start();
    closed = [];
    const found = new Set<string>();
    const listed: string[] = [];
    const globs = { exclude, gitignore, include: include ?? ["**/*", ...hiddenSecrets] };
    for (const folder of folders) {
      await mustBe("folder", folder);
      const walked = await walk(folder, { ...globs, signal, onSkipped: reportSkipped });
      for (const [path, error] of walked.closed) {
        closed.push(pathToFileURL(join(path, "/")).href);
        reportFailed({ error }, context);
      }
      for (const file of walked.files) {
        const path = join(folder, file);
        listed.push(path);
        if (only?.has(path) ?? true) found.add(path);
      }
    }
    const reasons = new Map<string, string | undefined>();
    for (const file of found) {
      const start = isKeyFile(file) ? await firstBytes(file, 4) : undefined;
      reasons.set(file, reasonToSkip(file, formats, include, start));
    }
    const files = [...found].filter((file) => reasons.get(file) === undefined);
    report({ type: "progress", what: "files-found", count: files.length });
    for (const [file, reason] of reasons) if (reason !== undefined) reportSkipped(file, reason);
    const shownPath = (path: string) => {
      const folder = folders.find((currentFolder) => path.startsWith(join(currentFolder, "/")));
      return relative(folder ?? "", path)
        .split(sep)
        .join("/");
    };
    const reading = {
      ...loading,
      isPlan,
      budget,
      roots: folders,
      listed,
      source: id,
      signal,
      report,
      seen,
      files: memory,
      shownPath,
    };
    const outcomes = readFiles(files, formats, reading);
    const { skipped, failed } = yield* reportOutcomes(outcomes, context, {
      skippedCodes: ["binary", "too-large"],
    });
    seen.end(failed + closed.length);
    if (skipped === files.length && closed.length === 0 && !only) {
      throw new LoadError("empty", id, nothingToRead(folders, [...found], formats));
    }
  }

  const isUnknown = (uri: string) => closed.some((address) => uri.startsWith(address));
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
          vanished: (uri) =>
            within(uri) && !isUnknown(uri) && files.has(fileURLToPath(uri)) && (!isRow(uri) || seen.isGone(uri)),
        }),
    },
    vanished: (uri, source) => {
      // A row with an address of its own does not say which file it was in, so all files must have been seen.
      if (!within(uri)) return source === id && !filtered && seen.isWhole;
      if (isUnknown(uri)) return false;
      if (isRow(uri)) return seen.isGone(uri);
      // Globs select a part: a file that was not met may just not match, so the disk is asked.
      return !filtered || isMissing(uri);
    },
  });
}

/** Why a file is not read: it may hold secrets, no loader knows its ending, or a machine made it; else `undefined`. */
function reasonToSkip(
  file: string,
  formats: Formats,
  include: readonly string[] | undefined,
  start: Uint8Array | undefined,
): string | undefined {
  const ending = extname(file).toLowerCase();
  if (mayHoldSecrets(file, start) && !include?.some((glob) => posix.basename(glob) === basename(file))) {
    return "its name suggests that it holds secrets: to read it, include it by its whole name";
  }
  if (formats.ofFile(file) === undefined && !include?.some((glob) => glob.toLowerCase().endsWith(ending))) {
    return noLoaderReason(file);
  }
  return include === undefined && generated.test(file)
    ? "it looks generated: to read it, include it by its name"
    : undefined;
}

/** Endings that the message about a folder with nothing to read lists. */
const maxEndings = 8;
const shownEndings = [".md", ".html", ".pdf", ".docx", ".xlsx", ".txt", ".csv", ".json", ".py", ".ts"];

function nothingToRead(folders: readonly string[], files: readonly string[], formats: Formats): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const ending = extname(file).toLowerCase() || "no ending";
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  const there = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxEndings)
    .map(([ending, count]) => `${count} with ${ending}`)
    .join(", ");
  return (
    `Nothing to read in ${folders.join(", ")}: looked for ${shownEndings.join(" ")} and ` +
    `${formats.endings.length - shownEndings.length} other endings, found ${there || "no files"}. Names that start with a ` +
    `dot, node_modules, links, and files that .gitignore names are passed over`
  );
}
