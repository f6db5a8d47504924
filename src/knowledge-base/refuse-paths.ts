import { posix } from "node:path";
import { OptionsError } from "../core/errors.js";
import type { Searchable } from "../core/ports.js";

/** Documents that are looked through at once. */
const pageSize = 1000;

/**
 * Refuses paths where uris of stored documents are meant. A string that no stored document's address ends in is an unknown
 * uri, and passes.
 *
 * @param unknown strings that are the uri of no document.
 * @throws OptionsError with the uri that is stored for such a path.
 */
export async function refusePaths(unknown: readonly string[], within: Pick<Searchable, "documents">): Promise<void> {
  const ends = new Map(unknown.flatMap((given) => (isPath(given) ? [[given, endOf(given)] as const] : [])));
  if (ends.size === 0) return;
  let after: string | undefined;
  do {
    const page = await within.documents({ limit: pageSize, ...(after !== undefined && { after }) });
    for (const { uri } of page) {
      const path = pathOf(uri);
      for (const [given, end] of ends) {
        if (!path?.endsWith(end)) continue;
        const problem = `deleteDocuments: no document has the uri ${JSON.stringify(given)}, so nothing was deleted`;
        throw new OptionsError(
          "options",
          `${problem}. A document has its whole address as its uri: did you mean ${uri}?`,
        );
      }
    }
    after = page.length === pageSize ? page.at(-1)!.uri : undefined;
  } while (after !== undefined);
}

/** Whether it may be the path of a file and is no address; a single letter in front of a colon is a drive. */
function isPath(given: string): boolean {
  return /[/\\.]/.test(given) && !/^[a-z][a-z\d+.-]+:/i.test(given);
}

/** `/docs/a.md` for `docs/a.md`, `./docs/a.md`, `../docs/a.md` and `docs\a.md`. */
function endOf(path: string): string {
  const normal = posix.normalize(path.replaceAll("\\", "/")).replace(/^(?:\.\.\/)+|^\//, "");
  return `/${normal}`;
}

/** The path in an address, readable; `undefined` for a uri that is none. */
function pathOf(uri: string): string | undefined {
  const [, path] = /^[a-z][a-z\d+.-]+:(\/[^?#]*)/i.exec(uri) ?? [];
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    return path;
  }
}
