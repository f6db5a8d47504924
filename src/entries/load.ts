/** `citewell/load`: everything that turns files, folders, sites and rows into documents. */

export { LoadError } from "../core/errors.js";
export type { LoadErrorCode } from "../core/errors.js";
export { tesseract } from "../load/formats/recognition/tesseract.js";
export type { Tesseract, TesseractOptions } from "../load/formats/recognition/tesseract.js";
export type { FileToLoad, InnerFile, LoadedText, Loader } from "../load/formats/loader.js";
export { readBucket } from "../load/buckets/read-bucket.js";
export type { ReadBucketOptions } from "../load/buckets/read-bucket.js";
export type { BucketCredentials } from "../load/buckets/bucket-client.js";
export { readPath } from "../load/read-path.js";
export type { ReadPathOptions } from "../load/read-path.js";
export type { FileForMetadata, MetadataOfFile } from "../load/sources/operator-metadata.js";
export { readFile } from "../load/sources/read-file.js";
export type { ReadFileOptions } from "../load/sources/read-file.js";
export { readFolder } from "../load/sources/read-folder.js";
export type { ReadFolderOptions } from "../load/sources/read-folder.js";
export { readGit } from "../load/sources/read-git.js";
export type { ReadGitOptions } from "../load/sources/read-git.js";
export { allSources, documentSource } from "../load/sources/source.js";
export type { DocumentSource, ReadContext, SourceFiles } from "../load/sources/source.js";
export { watchSource } from "../load/sources/watch-source.js";
export type { WatchSourceOptions } from "../load/sources/watch-source.js";
export { readSitemap } from "../load/web/read-sitemap.js";
export type { ReadSitemapOptions } from "../load/web/read-sitemap.js";
export { storedPictures } from "../load/stored-pictures.js";
export { readUrl } from "../load/web/read-url.js";
export type { ReadUrlOptions } from "../load/web/read-url.js";
