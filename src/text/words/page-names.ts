import { terms } from "./terms.js";

/** Maximum terms of a name; a longer question is a sentence, which names nothing. */
const maxTerms = 6;

/** Files that are the page of their folder. */
const folderPages: ReadonlySet<string> = new Set(["index", "_index", "readme", "default", "main"]);

/**
 * The terms of a name in one spelling, so that `maxConnections`, `max_connections` and "max connections" are the same name;
 * `undefined` for one of stop words alone, or too long to be one.
 */
export function nameKey(text: string): string | undefined {
  const words = text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/[_.,:;/()[\]{}<>#`'"!?-]+/g, " ");
  const found = terms(words);
  return found.length === 0 || found.length > maxTerms ? undefined : found.join(" ");
}

/** The name of a file as its page's, without its ending: that of the folder for `index.md` and its like. */
export function fileName(uri: string): string {
  const segments = pathOf(uri)
    .split("/")
    .filter((segment) => segment !== "");
  const name = (segments.at(-1) ?? "").replace(/\.[A-Za-z\d]{1,8}$/, "");
  return folderPages.has(name.toLowerCase()) ? (segments.at(-2) ?? name) : name;
}

function pathOf(uri: string): string {
  const path = uri.replace(/^[a-z][a-z\d+.-]*:(?:\/\/[^/]*)?/i, "").replace(/[?#].*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
