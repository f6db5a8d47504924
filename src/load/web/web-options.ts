import { z } from "zod";
import { LoadOptions } from "../load-options.js";

/** How pages are fetched: slowly, and only where a site's robots.txt lets this program in. */
export const WebOptions = LoadOptions.extend({
  /** Most requests a second to one host, 0.01 to 100; a longer `Crawl-delay` of its robots.txt wins. Default: 1. */
  requestsPerSecond: z.number().min(0.01).max(100).default(1),
  /** Most time for one request with its redirects, in milliseconds, 100 to 600,000. Default: 30,000. */
  requestTimeoutMs: z.int().min(100).max(600_000).default(30_000),
  /**
   * Fetch all pages anew. False: only those that changed since they were stored, as their servers tell by `ETag` and
   * `Last-Modified`. To be set after loaders of your own have changed. Default: false.
   */
  refetch: z.boolean().default(false),
  /** Most redirects to follow for one page, 0 to 20. Default: 5. */
  maxRedirects: z.int().min(0).max(20).default(5),
  /** Ask robots.txt before a page. Leave this on for sites that are not yours. Default: true. */
  robots: z.boolean().default(true),
  /** What this program calls itself, to servers and in robots.txt. Default: `citewell`. */
  userAgent: z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]*$/, "must be printable ASCII")
    .default("citewell"),
  /** Fetch from addresses of this machine and its network too. Default: false. */
  allowPrivate: z.boolean().default(false),
});
export type WebOptions = z.output<typeof WebOptions>;
