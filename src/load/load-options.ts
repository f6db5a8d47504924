import { z } from "zod";
import type { Loader } from "./loader.js";
import { RowMapping } from "./rows/row-mapping.js";

const kinds = /^\.[^.\s/]+$|^[\w.+-]+\/[\w.+-]+$/;

/** How files become documents, wherever they come from. */
export const LoadOptions = z.strictObject({
  /**
   * Loaders of your own, by file name ending (`.foo`) or by media type (`text/x-foo`), before those that are built in.
   * Default: none.
   */
  loaders: z
    .record(z.string(), z.custom<Loader>(isFunction, "must be a function"))
    .refine((loaders) => Object.keys(loaders).every((kind) => kinds.test(kind)), {
      error: "each must be named by an ending such as .foo or a media type such as text/x-foo",
    })
    .default({}),
  /** Which columns of CSV and fields of JSON are text, title and name of a document. Default: by their names. */
  rows: RowMapping.default({}),
  /** Larger files are passed over; where rows are documents, larger rows. Default 50,000,000. */
  maxFileBytes: z.int().min(1).default(50_000_000),
  /** Most time to make a document of one file, in milliseconds, 100 to 3,600,000. Default 10,000. */
  timeoutMs: z.int().min(100).max(3_600_000).default(10_000),
});
export type LoadOptions = z.output<typeof LoadOptions>;

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
