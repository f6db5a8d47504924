import { z } from "zod";
import { listOption, optionsOf } from "../../core/options.js";
import { loadOptions, type LoadOptions } from "../sources/load-options.js";

/** How pages are fetched: slowly, and only where a site's robots.txt lets this program in. */
export interface WebOptions extends LoadOptions {
  /** Requests a second to one host, at most, 0.01 to 100; a longer `Crawl-delay` of its robots.txt wins. Default: 1. */
  readonly requestsPerSecond?: number;
  /** Maximum time for one request with its redirects, in milliseconds, 100 to 600,000. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /**
   * Fetch all pages anew. False: only those that changed since they were stored, as their servers tell by `ETag` and
   * `Last-Modified`. Set it after loaders of your own have changed. Default: false.
   */
  readonly refetch?: boolean;
  /** Redirects to follow for one page, at most, 0 to 20. Default: 5. */
  readonly maxRedirects?: number;
  /** Ask robots.txt before a page. Leave this on for sites that are not yours. Default: true. */
  readonly robots?: boolean;
  /** Name of this program for servers and robots.txt. Default: `citewell`. */
  readonly userAgent?: string;
  /** Fetch from addresses of this machine and its network too. Default: false. */
  readonly allowPrivate?: boolean;
  /** The proxy for pages at `https:`, `http://` or `https://`, with credentials if it wants some. Default: none; nothing reads the environment. */
  readonly httpsProxyUrl?: string;
  /** The proxy for pages at `http:`. Default: none. */
  readonly httpProxyUrl?: string;
  /** Hosts to reach without the proxies: `host`, `host:port`, `.domain` for everything below it, `*` for all. Default: none. */
  readonly noProxy?: readonly string[];
}

/** @internal */
export const webOptions = optionsOf<WebOptions>()({
  ...loadOptions.shape,
  requestsPerSecond: z.number().min(0.01).max(100).default(1),
  requestTimeoutMs: z.int().min(100).max(600_000).default(30_000),
  refetch: z.boolean().default(false),
  maxRedirects: z.int().min(0).max(20).default(5),
  robots: z.boolean().default(true),
  userAgent: z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]*$/, "must be printable ASCII")
    .default("citewell"),
  allowPrivate: z.boolean().default(false),
  // Checked where they are used, without being quoted.
  httpsProxyUrl: z.string().optional(),
  httpProxyUrl: z.string().optional(),
  noProxy: listOption(z.array(z.string().regex(/^[^\s,]+$/, "must be hosts, one an item"))).default([]),
});
/** @internal */
export type WebSettings = z.output<typeof webOptions>;
