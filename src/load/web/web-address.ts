import { LoadError } from "../../errors.js";

/** @throws LoadError (`missing`) for what is no http or https address. */
export function webAddress(given: string): string {
  if (isWebAddress(given) && URL.canParse(given)) return withoutFragment(new URL(given));
  throw new LoadError("missing", given, `${given} is no address of a page: it has to start with http:// or https://`);
}

export function isWebAddress(given: string): boolean {
  return /^https?:\/\//i.test(given);
}

/** Whether an address is a sitemap's, by its last part. */
export function isSitemapAddress(address: string): boolean {
  return URL.canParse(address) && /(?:^|\/)[^/]*sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$/i.test(new URL(address).pathname);
}

/** An address as pages are known by: without the place in the page. */
export function withoutFragment(url: URL): string {
  const bare = new URL(url);
  bare.hash = "";
  return bare.href;
}
