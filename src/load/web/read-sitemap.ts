import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { LoadError, asError, type LoadErrorCode } from "../../core/errors.js";
import { listOption, optionsOf, resolve } from "../../core/options.js";
import type { Document } from "../../core/types.js";
import { elementsOf, find, lineOf, parseXml, type HtmlElement } from "../formats/element-tree.js";
import { reportFailed, reportOutcomes } from "../sources/read-files.js";
import { documentSource, type DocumentSource, type ReadContext } from "../sources/source.js";
import { loadPage, visiting, type Visit } from "./load-page.js";
import { webAddress, withoutFragment } from "./web-address.js";
import { webOptions, type WebOptions } from "./web-options.js";

export interface ReadSitemapOptions extends WebOptions {
  /** Read only pages whose address starts with one of these. Default: all of the sitemap's site. */
  readonly include?: readonly string[];
  /** Pages to read at most; with more, nothing counts as vanished. Default: 10,000. */
  readonly maxPages?: number;
  /** Sitemaps to read at most, indexes included. Default: 100. */
  readonly maxSitemaps?: number;
}

const readSitemapOptions = optionsOf<ReadSitemapOptions>()({
  ...webOptions.shape,
  include: listOption(z.array(z.string().min(1)).min(1)).optional(),
  maxPages: z.int().min(1).default(10_000),
  maxSitemaps: z.int().min(1).default(100),
});
type Options = z.output<typeof readSitemapOptions>;

/**
 * Reads all pages that a site lists. `address` is that of a sitemap or of an index of sitemaps, or that of the site's home
 * page (`https://docs.example.com/`): then the sitemaps are those that its robots.txt names, or else `/sitemap.xml`. Pages
 * of other sites, and those that robots.txt keeps from programs, are passed over and reported, and so is a page that does
 * not exist any more, which then has vanished.
 *
 * @throws OptionsError for bad options, LoadError (`missing`) for anything but an http or https address; when it is read,
 *   LoadError (`empty`) when no page is listed.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { readSitemap } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(readSitemap("https://docs.example.com/", { maxPages: 500 }));
 * ```
 */
export function readSitemap(address: string, options: ReadSitemapOptions = {}): DocumentSource {
  const site = resolve("readSitemap", readSitemapOptions, options);
  const { include, maxPages } = site;
  const id = webAddress(address);
  const { origin } = new URL(id);
  let complete = false;

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { report } = context;
    complete = false;
    yield* visiting(site, id, context, async function* (visit): AsyncGenerator<Document> {
      const listed = await listPages(id, visit, site, context);
      const wanted = [...listed.pages].filter((url) => include?.some((start) => url.startsWith(start)) ?? true);
      const pages = wanted.slice(0, maxPages);
      if (pages.length === 0) throw new LoadError("empty", id, `${id} lists no page of ${origin} that is to be read`);
      if (pages.length < wanted.length) {
        const message = `${id} lists ${wanted.length} pages, and maxPages is ${maxPages}: the first of them are read`;
        report({ type: "warning", message });
      }
      report({ type: "progress", what: "files-found", count: pages.length });
      const outcomes = async function* () {
        for (const url of pages) yield* loadPage(url, visit);
      };
      yield* reportOutcomes(outcomes(), context, { skippedCodes });
      complete = listed.complete && pages.length === wanted.length && include === undefined;
    });
  }

  return documentSource({ id, read, vanished: (_, source) => source === id && complete });
}

/** A page that is gone, kept from programs, or unreadable by its kind does not make reading the site a failure. */
const skippedCodes: readonly LoadErrorCode[] = ["missing", "unsupported", "binary", "too-large"];

interface Listed {
  readonly pages: ReadonlySet<string>;
  /** Whether every sitemap could be read. */
  readonly complete: boolean;
}

/** Pages of the site that its sitemaps list, in their order. A sitemap that cannot be read is a failure of its own. */
async function listPages(id: string, visit: Visit, options: Options, context: ReadContext): Promise<Listed> {
  const { signal, report } = context;
  const { origin } = new URL(id);
  const waiting = await sitemapsOf(id, visit);
  const known = new Set(waiting);
  const pages = new Set<string>();
  let complete = true;
  let elsewhere = 0;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    try {
      const { delayMs } = await visit.robots.of(url, signal);
      const onRedirect = async (to: URL) => (await visit.robots.of(to.href, signal)).delayMs;
      const { bytes } = await visit.client.get(url, { signal, gapMs: delayMs, onRedirect });
      const found = parseSitemap(bytes, options.maxFileBytes);
      for (const page of found.pages) {
        if (new URL(page).origin === origin) pages.add(page);
        else elsewhere++;
      }
      for (const sitemap of found.sitemaps) {
        if (known.has(sitemap) || new URL(sitemap).origin !== origin) continue;
        known.add(sitemap);
        if (known.size <= options.maxSitemaps) waiting.push(sitemap);
        else complete = false;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      complete = false;
      const cause = asError(thrown);
      const message = cause instanceof LoadError ? cause.message : `${url} cannot be read: ${cause.message}`;
      reportFailed({ error: new LoadError("unreadable", url, message, { cause }) }, context);
    }
  }
  if (elsewhere > 0) report({ type: "warning", message: `${id} lists ${elsewhere} pages of other sites: passed over` });
  if (!complete) {
    const message = `not all sitemaps of ${id} were read, so that no page of it counts as vanished`;
    report({ type: "warning", message });
  }
  return { pages, complete };
}

async function sitemapsOf(id: string, { robots, signal }: Visit): Promise<string[]> {
  const { pathname, origin } = new URL(id);
  if (pathname !== "/") return [id];
  const { sitemaps } = await robots.of(id, signal);
  const own = sitemaps.filter((url) => URL.canParse(url) && new URL(url).origin === origin);
  return own.length > 0 ? [...new Set(own)] : [`${origin}/sitemap.xml`];
}

/** A small sitemap may unpack to this much, and a larger one by this ratio more. */
const [maxRepetitiveBytes, maxRatio] = [2_000_000, 100];

/** The addresses that a sitemap lists. */
export interface Sitemap {
  readonly pages: readonly string[];
  readonly sitemaps: readonly string[];
}

/**
 * Parses a sitemap of https://www.sitemaps.org/protocol.html: XML, an index of others, or a text with an address on each
 * line, any of them packed with gzip. Invalid addresses are left out.
 *
 * @throws Error when it is none of these, or unpacks to more bytes than allowed.
 */
export function parseSitemap(bytes: Uint8Array, maxBytes: number): Sitemap {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  // Twice a list of addresses at its most repetitive: what packs better is made to fill the memory.
  const maxOutputLength = Math.min(maxBytes, maxRepetitiveBytes + maxRatio * bytes.length);
  const text = new TextDecoder().decode(isPacked ? gunzipSync(bytes, { maxOutputLength }) : bytes).trim();
  if (text.startsWith("<")) {
    const root = parseXml(text);
    const locationOf = (entry: HtmlElement) => elementsOf(entry).find(({ name }) => local(name) === "loc");
    const listed = (wanted: string) =>
      addresses(find(root, ({ name }) => local(name) === wanted).map((entry) => lineOf(locationOf(entry))));
    const [pages, sitemaps] = [listed("url"), listed("sitemap")];
    const isSitemap = find(root, ({ name }) => ["urlset", "sitemapindex"].includes(local(name))).length > 0;
    if (!isSitemap) throw new Error("it is not a sitemap: there is neither <urlset> nor <sitemapindex> in it");
    return { pages, sitemaps };
  }
  const pages = addresses(text.split(/\s+/u));
  if (pages.length === 0) throw new Error("it is not a sitemap: it lists no address");
  return { pages, sitemaps: [] };
}

function local(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function addresses(given: readonly string[]): string[] {
  return given.flatMap((text) => {
    if (!URL.canParse(text.trim())) return [];
    const url = new URL(text.trim());
    return /^https?:$/.test(url.protocol) ? [withoutFragment(url)] : [];
  });
}
