import { LoadError } from "../../core/errors.js";

/** @throws LoadError (`missing`) for anything but an http or https address. */
export function webAddress(given: string): string {
  if (isWebAddress(given) && URL.canParse(given)) return withoutFragment(new URL(given));
  const message = `${given} is not the address of a page: it has to start with http:// or https://`;
  throw new LoadError("missing", given, message);
}

export function isWebAddress(given: string): boolean {
  return /^https?:\/\//i.test(given);
}

/** Whether an address is a sitemap's, by its last part. */
export function isSitemapAddress(address: string): boolean {
  return URL.canParse(address) && /(?:^|\/)[^/]*sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$/i.test(new URL(address).pathname);
}

/** The address of a page without the place in it. */
export function withoutFragment(url: URL): string {
  const bare = new URL(url);
  bare.hash = "";
  return bare.href;
}
