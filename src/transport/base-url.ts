import { operations } from "../contract/operations.js";
import type { ServiceProfile } from "../dialects/service-profile.js";
import { OptionsError } from "../core/errors.js";

const contractEnds = [...Object.values(operations).map(({ path }) => path), "/llm/v1"];

/**
 * Reduces what people paste to the address that paths are put behind: without the trailing slash, the path of an
 * operation, or for the contract's own service the version prefix. A service whose paths begin with a version, such as
 * `/v1`, gets it where the address has no path at all.
 *
 * @throws OptionsError when it is not an http(s) address, or holds a query or credentials.
 */
export function normaliseBaseUrl(given: string, extraPaths: readonly string[] = [], profile?: ServiceProfile): string {
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `createTransport: baseUrl ${problem}`);
  };
  // The value itself is not quoted, because a pasted address may carry a key.
  if (!URL.canParse(given)) refuse("is not an address: write it with its scheme, such as https://host");
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") refuse("must start with http:// or https://");
  if (url.username !== "" || url.password !== "") refuse("must not hold credentials: pass the key as apiKey");
  if (url.search !== "" || url.hash !== "") refuse("must not have a query or a fragment");
  let path = url.pathname.replace(/\/+$/, "");
  const own = profile ? [...Object.values(profile.paths), ...(profile.addressEnds ?? [])] : contractEnds;
  const ends = [...extraPaths, ...own].map((tail) => endOf(path, tail));
  const longest = ends.reduce((one, other) => (other.length > one.length ? other : one), "");
  if (longest !== "") path = path.slice(0, -longest.length).replace(/\/+$/, "");
  const version = profile?.baseUrl === undefined ? "" : new URL(profile.baseUrl).pathname.replace(/\/$/, "");
  return url.origin + (path === "" ? version : path);
}

/**
 * The end of a path that a tail describes, in letters of any case, in which `{model}` is any one segment; empty when it does not
 * end so.
 */
function endOf(path: string, tail: string): string {
  const segments = path.split("/").slice(-tail.split("/").length + 1);
  const matches = tail
    .split("/")
    .slice(1)
    .every(
      (wanted, place) =>
        wanted === segments[place]?.toLowerCase() || (wanted === "{model}" && segments[place] !== undefined),
    );
  return matches ? `/${segments.join("/")}` : "";
}

/** An address without the version of the interface in its query, as Azure's portal shows it, and that version. */
export function withoutApiVersion(address: string): { readonly address: string; readonly apiVersion?: string } {
  if (!URL.canParse(address)) return { address };
  const url = new URL(address);
  const apiVersion = url.searchParams.get("api-version");
  if (apiVersion === null || !/^[\w.-]+$/.test(apiVersion)) return { address };
  url.searchParams.delete("api-version");
  return { address: url.href, apiVersion };
}
