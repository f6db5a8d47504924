import { z } from "zod";
import { LoadError, asError } from "../../errors.js";
import { resolve } from "../../options.js";
import type { Document } from "../../types.js";
import { reportFailed, reportLoaded } from "../read-files.js";
import { documentSource, type DocumentSource, type ReadContext } from "../source.js";
import { loadPage, type PageContext } from "./load-page.js";
import { parseSitemap } from "./sitemap.js";
import { visiting } from "./visiting.js";
import { webAddress } from "./web-address.js";
import { WebOptions } from "./web-options.js";

export const ReadSitemapOptions = WebOptions.extend({
  /** Read only pages whose address starts with one of these. Default: all of the sitemap's site. */
  include: z.array(z.string().min(1)).min(1).optional(),
  /** Most pages to read; with more, nothing counts as vanished. Default: 10,000. */
  maxPages: z.int().min(1).default(10_000),
  /** Most sitemaps to read, indexes among them. Default: 100. */
  maxSitemaps: z.int().min(1).default(100),
});
export type ReadSitemapOptions = z.input<typeof ReadSitemapOptions>;
type Options = z.output<typeof ReadSitemapOptions>;

/**
 * All pages that a site lists. `address` is that of a sitemap or of an index of sitemaps, or that of the site's home page
 * (`https://docs.example.com/`): then the sitemaps are those that its robots.txt names, or else `/sitemap.xml`. Pages of
 * other sites, and those that robots.txt keeps from programs, are passed over with a word, and so is one that is not there
 * any more, which then has vanished.
 *
 * @throws OptionsError for bad options, LoadError (`missing`) for what is no http or https address; when it is read,
 *   LoadError (`empty`) when no page is listed.
 */
export function readSitemap(address: string, options: ReadSitemapOptions = {}): DocumentSource {
  const site = resolve("readSitemap", ReadSitemapOptions, options);
  const { include, maxPages } = site;
  const id = webAddress(address);
  const { origin } = new URL(id);
  let complete = false;

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { report } = context;
    complete = false;
    yield* visiting(site, id, context, async function* (page): AsyncGenerator<Document> {
      const listed = await listPages(id, page, site, context);
      const wanted = [...listed.pages].filter((url) => include?.some((start) => url.startsWith(start)) ?? true);
      const pages = wanted.slice(0, maxPages);
      if (pages.length === 0) throw new LoadError("empty", id, `${id} lists no page of ${origin} that is to be read`);
      if (pages.length < wanted.length) {
        const message = `${id} lists ${wanted.length} pages, and maxPages is ${maxPages}: the first of them are read`;
        report({ type: "warning", message });
      }
      report({ type: "progress", what: "files-found", count: pages.length });
      for (const url of pages) {
        for await (const outcome of loadPage(url, page)) {
          if ("document" in outcome) yield* reportLoaded(outcome, context);
          else if (isPassedOver(outcome.error)) {
            report({ type: "skipped", uri: outcome.error.uri, reason: outcome.error.message });
          } else reportFailed(outcome.error, context);
        }
      }
      complete = listed.complete && pages.length === wanted.length && include === undefined;
    });
  }

  return documentSource({ id, read, vanished: (_, source) => source === id && complete });
}

/** Not there any more, not for programs, or nothing that can be read: no reason to call a site's reading a failure. */
function isPassedOver({ code }: LoadError): boolean {
  return code === "missing" || code === "unsupported" || code === "binary" || code === "too-large";
}

interface Listed {
  readonly pages: ReadonlySet<string>;
  /** Whether every sitemap could be read. */
  readonly complete: boolean;
}

/** Pages of the site that its sitemaps list, in their order. A sitemap that cannot be read is a failure of its own. */
async function listPages(id: string, page: PageContext, options: Options, context: ReadContext): Promise<Listed> {
  const { signal, report } = context;
  const { origin } = new URL(id);
  const waiting = await sitemapsOf(id, page);
  const known = new Set(waiting);
  const pages = new Set<string>();
  let complete = true;
  let elsewhere = 0;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    try {
      const { delayMs } = await page.robots.of(url, signal);
      const { bytes } = await page.client.get(url, { signal, gapMs: delayMs });
      const found = parseSitemap(bytes, options.maxFileBytes);
      for (const each of found.pages) {
        if (new URL(each).origin === origin) pages.add(each);
        else elsewhere++;
      }
      for (const each of found.sitemaps) {
        if (known.has(each) || new URL(each).origin !== origin) continue;
        known.add(each);
        if (known.size <= options.maxSitemaps) waiting.push(each);
        else complete = false;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      complete = false;
      const cause = asError(thrown);
      const message = cause instanceof LoadError ? cause.message : `${url} cannot be read: ${cause.message}`;
      reportFailed(new LoadError("unreadable", url, message, { cause }), context);
    }
  }
  if (elsewhere > 0) report({ type: "warning", message: `${id} lists ${elsewhere} pages of other sites: passed over` });
  if (!complete) {
    const message = `not all sitemaps of ${id} were read, so that no page of it counts as vanished`;
    report({ type: "warning", message });
  }
  return { pages, complete };
}

async function sitemapsOf(id: string, { robots, signal }: PageContext): Promise<string[]> {
  const { pathname, origin } = new URL(id);
  if (pathname !== "/") return [id];
  const { sitemaps } = await robots.of(id, signal);
  const own = sitemaps.filter((url) => URL.canParse(url) && new URL(url).origin === origin);
  return own.length > 0 ? [...new Set(own)] : [`${origin}/sitemap.xml`];
}
