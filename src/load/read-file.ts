import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { z } from "zod";
import { resolve } from "../options.js";
import type { Document } from "../types.js";
import { Formats } from "./formats.js";
import { LoadOptions } from "./load-options.js";
import { readFiles, reportFailed, reportLoaded } from "./read-files.js";
import { readFolder, type ReadFolderOptions } from "./read-folder.js";
import { mustBe, realPath } from "./real-path.js";
import { RowsSeen, isRow } from "./rows-seen.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";
import { readSitemap } from "./web/read-sitemap.js";
import { readUrl, type ReadUrlOptions } from "./web/read-url.js";
import { isSitemapAddress, isWebAddress } from "./web/web-address.js";

export type ReadFileOptions = z.input<typeof LoadOptions>;

/** One file. Whatever its ending, it is read if it is text; what cannot be read is a failure. */
export function readFile(path: string, options: ReadFileOptions = {}): DocumentSource {
  const { loaders, ...loading } = resolve("readFile", LoadOptions, options);
  const formats = new Formats(loaders);
  const file = realPath(path);
  const id = pathToFileURL(file).href;
  const seen = new RowsSeen();

  const read = async function* (context: ReadContext): AsyncGenerator<Document> {
    const { signal, report } = context;
    seen.start();
    await mustBe("file", file);
    report({ type: "progress", what: "files-found", count: 1 });
    const reading = { ...loading, source: id, signal, report, allRows: (uri: string) => seen.whole(uri) };
    for await (const outcome of readFiles([file], formats, reading)) {
      if ("document" in outcome) yield* reportLoaded(outcome, context);
      else {
        seen.fail();
        reportFailed(outcome.error, context);
      }
    }
  };

  const vanished = (uri: string, source?: string): boolean => {
    if (uri === id) return true;
    const isItsRow = uri.startsWith(id) && isRow(uri);
    return isItsRow ? seen.isGone(uri) : source === id && seen.complete;
  };

  return documentSource({
    id,
    read,
    vanished,
    files: {
      roots: [file],
      only: (files) =>
        documentSource({
          id,
          read: async function* (context) {
            if (files.has(file) && existsSync(file)) yield* read(context);
          },
          vanished: (uri, source) => files.has(file) && vanished(uri, source),
        }),
    },
  });
}

export interface ReadPathOptions extends ReadFolderOptions {
  /** How pages are fetched. Default: slowly, as `readUrl` says. */
  readonly web?: Omit<ReadUrlOptions, keyof ReadFileOptions>;
  /** Read the whole site of an address, whatever its last part: all pages that its sitemaps list. Default: false. */
  readonly sitemap?: boolean;
}

/**
 * A folder, a file or, of an address that starts with http, a page or a site, whichever it leads to: a site where its last
 * part is a sitemap's (`sitemap.xml`, `sitemap_index.xml.gz`). Globs hold for folders alone.
 */
export function readPath(path: string, { web, sitemap = false, ...options }: ReadPathOptions = {}): DocumentSource {
  const { loaders, rows, maxFileBytes, timeoutMs } = options;
  const loading = { loaders, rows, maxFileBytes, timeoutMs };
  if (isWebAddress(path)) {
    const read = sitemap || isSitemapAddress(path) ? readSitemap : readUrl;
    return read(path, { ...web, ...loading });
  }
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? readFile(path, loading) : readFolder(path, options);
}
