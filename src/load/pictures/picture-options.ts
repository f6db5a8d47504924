import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import type { PictureReader } from "../../core/ports.js";

/** How pictures in documents become words. */
export interface PictureOptions {
  /** Model that describes them, such as `pictureReader(chatModel(…))`. */
  readonly reader: PictureReader;
  /**
   * Folder that keeps each description with its picture, by hash: no picture is sent twice, whatever documents and runs it is
   * met in. Default: nothing is kept.
   */
  readonly folder?: string;
  /** Maximum number of pictures that are sent in one run, 1 or more; documents with further ones are read again next time. Default: 1,000. */
  readonly maxPictures?: number;
  /** Requests for descriptions in flight at once, 1 to 64. Default: 4. */
  readonly concurrency?: number;
  /** Maximum time for one picture with its retries, in milliseconds, 1,000 to 3,600,000. Default: 120,000. */
  readonly timeoutMs?: number;
}

export const pictureOptions = optionsOf<PictureOptions>()({
  reader: z.custom<PictureReader>(
    (value) => typeof (value as Partial<PictureReader> | null)?.describe === "function",
    "must be a reader of pictures: { model, describe }, such as pictureReader(…)",
  ),
  folder: z.string().min(1).optional(),
  maxPictures: z.int().min(1).default(1000),
  concurrency: z.int().min(1).max(64).default(4),
  timeoutMs: z.int().min(1000).max(3_600_000).default(120_000),
});
export type PictureSettings = z.output<typeof pictureOptions>;
