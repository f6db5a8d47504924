import { gunzipSync } from "node:zlib";
import { find, textOf } from "../html-content.js";
import { isText, parseXml } from "../html-tree.js";
import { withoutFragment } from "./web-address.js";

/** What a sitemap lists: pages, or further sitemaps. */
export interface Sitemap {
  readonly pages: readonly string[];
  readonly sitemaps: readonly string[];
}

/**
 * A sitemap as https://www.sitemaps.org/protocol.html has it: XML, an index of others, or a text with an address on each
 * line, any of them packed with gzip. Addresses that are none are left out.
 *
 * @throws Error when it is none of these, or unfolds to more bytes than allowed.
 */
export function parseSitemap(bytes: Uint8Array, maxBytes: number): Sitemap {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = new TextDecoder().decode(isPacked ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes).trim();
  if (text.startsWith("<")) {
    const root = parseXml(text);
    const listed = (wanted: string) =>
      find(root, ({ name }) => local(name) === wanted).flatMap((entry) =>
        addresses(
          entry.children
            .filter((child) => !isText(child) && local(child.name) === "loc")
            .slice(0, 1)
            .map(textOf),
        ),
      );
    const [pages, sitemaps] = [listed("url"), listed("sitemap")];
    const isSitemap = find(root, ({ name }) => ["urlset", "sitemapindex"].includes(local(name))).length > 0;
    if (!isSitemap) throw new Error("it is no sitemap: there is neither <urlset> nor <sitemapindex> in it");
    return { pages, sitemaps };
  }
  const pages = addresses(text.split(/\s+/u));
  if (pages.length === 0) throw new Error("it is no sitemap: it lists no address");
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
