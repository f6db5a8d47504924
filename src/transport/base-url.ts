import { operations } from "../contract/operations.js";
import type { ServiceProfile } from "../contract/services/services.js";
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
  const end = [...extraPaths, ...own].find((tail) => path.endsWith(tail));
  if (end !== undefined) path = path.slice(0, -end.length).replace(/\/+$/, "");
  const version = profile?.baseUrl === undefined ? "" : new URL(profile.baseUrl).pathname.replace(/\/$/, "");
  return url.origin + (path === "" ? version : path);
}
