import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import type { TextRecognizer } from "../../core/ports.js";
import type { Metadata } from "../../core/types.js";
import type { Loader } from "../formats/loader.js";
import { type RowMapping, rowMapping } from "../formats/row-mapping.js";
import { type PictureOptions, pictureOptions } from "../pictures/picture-options.js";
import { type ArchiveLimits, archiveLimits } from "./archive-allowance.js";
import { type MetadataOfFile, operatorMetadata } from "./operator-metadata.js";

const kindOfFile = /^\.[^.\s/]+$|^[\w.+-]+\/[\w.+-]+$/;

/** How files become documents, wherever they come from. */
export interface LoadOptions {
  /**
   * Loaders of your own, by file name ending (`.foo`) or by media type (`text/x-foo`), before those that are built in.
   * Default: none.
   */
  readonly loaders?: Readonly<Record<string, Loader>>;
  /**
   * Reads the words of pictures (PNG, JPEG, WebP, GIF, BMP, TIFF), and of pages of a PDF that hold none as text, such as
   * `tesseract()`. At most 1,000 pages of a file, and 50,000,000 pixels of a picture. Default: none, pictures are passed over.
   */
  readonly recognizer?: TextRecognizer;
  /** Maps columns of CSV and fields of JSON to a document's text, title and name. Default: by their names. */
  readonly rows?: RowMapping;
  /**
   * Treatment of earlier mails that a reply repeats below its own words. `once`: they are left out where the source holds the
   * mail that is answered, and counted in the report; else they are kept. A mail in an archive, a bucket or a repository, or of
   * Outlook (`.msg`), counts from when it was read. `keep`: they are always kept. Default: `once`.
   */
  readonly replies?: "keep" | "once";
  /** Maximum bytes of a file, 1 or more; larger ones are passed over, and where rows are documents, larger rows. Default 50,000,000. */
  readonly maxFileBytes?: number;
  /** How much an archive (ZIP, tar, gzip) may unpack to. Default: 1 GB, 100 times its size, and 100,000 files. */
  readonly archives?: ArchiveLimits;
  /**
   * Maximum time to make a document of one file, in milliseconds, 100 to 3,600,000. A PDF or EPUB has
   * this time for each page or chapter. Default 10,000.
   */
  readonly timeoutMs?: number;
  /**
   * JSON values put on every document, by name, such as `{ tenant: "a" }`. They win over what a file, its front matter or
   * its row says under the same names: a document cannot give itself another tenant. A run with other values updates the
   * documents. A function is asked for each file or page before it is read, for several at once: what it throws, or a result
   * that is no metadata, fails that file alone. Default: none.
   */
  readonly metadata?: Metadata | MetadataOfFile;
}

/** How files on disk become documents. */
export interface LoadFilesOptions extends LoadOptions {
  /**
   * Describes pictures in documents, picture files and pages of a PDF without text by a model that sees, and puts its words
   * into the text behind each picture; citations name the model. Each picture costs a request. Small, plain and repeated
   * ones are left out, and counted in the report. Default: none, pictures are passed over.
   */
  readonly pictures?: PictureOptions;
}

export const loadOptions = optionsOf<LoadOptions>()({
  loaders: z
    .record(
      z.string(),
      z.custom<Loader>((value) => typeof value === "function", "must be a function"),
    )
    .refine((loaders) => Object.keys(loaders).every((kind) => kindOfFile.test(kind)), {
      error: "each must be named by an ending such as .foo or a media type such as text/x-foo",
    })
    .default({}),
  recognizer: z
    .custom<TextRecognizer>(
      (value) => typeof (value as Partial<TextRecognizer> | null)?.recognize === "function",
      "must be a recognizer of text: { name, recognize }, such as tesseract()",
    )
    .optional(),
  rows: rowMapping.default({}),
  replies: z.enum(["keep", "once"]).default("once"),
  maxFileBytes: z.int().min(1).default(50_000_000),
  archives: archiveLimits.prefault({}),
  timeoutMs: z.int().min(100).max(3_600_000).default(10_000),
  metadata: operatorMetadata.default({}),
});
/** @internal */
export const loadFilesOptions = optionsOf<LoadFilesOptions>()({
  ...loadOptions.shape,
  pictures: pictureOptions.optional(),
});
export type LoadSettings = z.output<typeof loadOptions>;
