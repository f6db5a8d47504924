import { statSync } from "node:fs";
import { z } from "zod";
import { optionsOf, resolve } from "../core/options.js";
import { isBucketAddress, readBucket, type ReadBucketOptions } from "./buckets/read-bucket.js";
import { readFile, type ReadFileOptions } from "./sources/read-file.js";
import { isGitAddress, readGit } from "./sources/read-git.js";
import { readFolder, readFolderOptions, type ReadFolderOptions } from "./sources/read-folder.js";
import type { DocumentSource } from "./sources/source.js";
import { readSitemap } from "./web/read-sitemap.js";
import { readUrl, type ReadUrlOptions } from "./web/read-url.js";
import { isSitemapAddress, isWebAddress } from "./web/web-address.js";

export interface ReadPathOptions extends ReadFolderOptions {
  /** How pages are fetched. Default: slowly, as `readUrl` says. */
  readonly web?: Omit<ReadUrlOptions, keyof ReadFileOptions>;
  /** How a bucket is reached: its service, region and keys. Default: AWS, without keys. */
  readonly bucket?: Omit<ReadBucketOptions, keyof ReadFileOptions>;
  /** Read the whole site of an address, whatever its last part: all pages that its sitemaps list. Default: false. */
  readonly sitemap?: boolean;
}

const readPathOptions = optionsOf<ReadPathOptions>()({
  ...readFolderOptions.shape,
  // The page reader checks the options that concern neither folders nor files.
  web: z.custom<NonNullable<ReadPathOptions["web"]>>().optional(),
  bucket: z.custom<NonNullable<ReadPathOptions["bucket"]>>().optional(),
  sitemap: z.boolean().default(false),
});

/**
 * Reads a folder, a file or, for an address that starts with http, a page or a site: a site where its last part is a
 * sitemap's (`sitemap.xml`, `sitemap_index.xml.gz`). One that starts with `git:` is a repository's, and one with `s3:` a
 * bucket's. Globs hold for folders alone.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { readPath } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * for (const place of ["./docs", "https://example.com/sitemap.xml", "git:../handbook#v2"]) await kb.ingest(readPath(place));
 * ```
 */
export function readPath(path: string, given: ReadPathOptions = {}): DocumentSource {
  const { web, bucket, sitemap, ...options } = resolve("readPath", readPathOptions, given);
  const { loaders, recognizer, rows, maxFileBytes, timeoutMs, metadata } = options;
  const loading = { loaders, recognizer, rows, maxFileBytes, timeoutMs, metadata };
  if (isWebAddress(path)) {
    const read = sitemap || isSitemapAddress(path) ? readSitemap : readUrl;
    return read(path, { ...web, ...loading });
  }
  if (isBucketAddress(path)) return readBucket(path, { ...bucket, ...loading });
  if (isGitAddress(path)) return readGit(path, loading);
  const { pictures } = options;
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? readFile(path, { ...loading, ...(pictures && { pictures }) }) : readFolder(path, options);
}
