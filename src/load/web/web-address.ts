import { LoadError } from "../../core/errors.js";
import { withoutCredentials } from "../../core/options.js";

/** @throws LoadError (`missing`) for anything but an http or https address, and for one with a name or a password. */
export function webAddress(given: string): string {
  const shown = withoutCredentials(given);
  if (!isWebAddress(given) || !URL.canParse(given)) {
    const message = `${shown} is not the address of a page: it has to start with http:// or https://`;
    throw new LoadError("missing", shown, message);
  }
  const url = new URL(given);
  if (url.username === "" && url.password === "") return withoutFragment(url);
  const message = `${shown} holds a name or a password, which would be stored with its documents. Pages are fetched without signing in`;
  throw new LoadError("missing", shown, message);
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
