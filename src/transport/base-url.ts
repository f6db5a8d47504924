import { operations } from "../contract/operations.js";
import { OptionsError } from "../errors.js";

const contractPaths = Object.values(operations).map(({ path }) => path);
const versionPrefix = "/llm/v1";

/**
 * `{base_url}` as the contract means it, from what people paste: without the trailing slash, the version prefix, or
 * the path of an operation.
 *
 * @throws OptionsError when it is not an http(s) address, or holds a query or credentials.
 */
export function normaliseBaseUrl(given: string, extraPaths: readonly string[] = []): string {
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `createTransport: baseUrl ${problem}`);
  };
  // The value itself is not quoted: a pasted address may carry a key.
  if (!URL.canParse(given)) refuse("is not an address: write it with its scheme, such as https://host");
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") refuse("must start with http:// or https://");
  if (url.username !== "" || url.password !== "") refuse("must not hold credentials: pass the key as apiKey");
  if (url.search !== "" || url.hash !== "") refuse("must not have a query or a fragment");
  let path = url.pathname.replace(/\/+$/, "");
  for (const tail of [...extraPaths, ...contractPaths, versionPrefix]) {
    if (path.endsWith(tail)) {
      path = path.slice(0, -tail.length).replace(/\/+$/, "");
      break;
    }
  }
  return url.origin + path;
}
