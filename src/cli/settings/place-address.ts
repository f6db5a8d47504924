import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { realPath } from "../../load/sources/real-path.js";
import { isWebAddress, webAddress } from "../../load/web/web-address.js";

/** The URI of the documents that came from a path or web address. */
export function addressOf(place: string, directory: string): string {
  if (isWebAddress(place)) return webAddress(place);
  // Documents of repositories and buckets are listed under such an address.
  if (/^(?:git|s3):\/\//i.test(place)) return place;
  return pathToFileURL(formerPath(resolve(directory, place))).href;
}

/** The real path of a file that may be gone: links are followed as far as the path still exists. */
function formerPath(path: string): string {
  return existsSync(path) || dirname(path) === path ? realPath(path) : join(formerPath(dirname(path)), basename(path));
}

/** Whether documents with this source were read from the folder, file or page of that address. */
export function isSource(source: string | undefined, address: string): boolean {
  return source === address || source === (address.endsWith("/") ? address : `${address}/`);
}
