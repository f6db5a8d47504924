import type { WireStatus } from "../../../api/wire.js";

/**
 * Address of the document that a link within another one leads to: `undefined` for a link that leaves the collection. A
 * document of the web has its links on the web.
 */
export function anotherDocument(href: string, uri: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:|^\/\/|^#/i.test(href) || !URL.canParse(href, uri)) return undefined;
  const address = new URL(href, uri);
  address.hash = "";
  return address.href;
}

/** Where the original of a document is: on the web, or at the server, which sends it as a download. */
export function originalOf(
  uri: string,
  originals: WireStatus["originals"] = "none",
): { readonly href: string; readonly isDownload: boolean } | undefined {
  if (/^https?:\/\//i.test(uri)) return { href: uri, isDownload: false };
  const isGiven = originals === "documents" || (originals === "files" && uri.startsWith("file:"));
  return isGiven ? { href: `api/originals?uri=${encodeURIComponent(uri)}`, isDownload: true } : undefined;
}

/** Whether a document is a row of a table, by its address. */
export function isRow(uri: string): boolean {
  return /#(?:.*\/)?(?:(?:row|line)=)?\d+$/s.test(uri);
}

/** Whether a document is a whole PDF, by its address. */
export function isPdf(uri: string): boolean {
  return /\.pdf$/i.test(uri.replace(/[?#].*$/s, ""));
}

/** Address of a picture of a document at the server. */
export function pictureOf(uri: string, sha256: string): string {
  return `api/pictures?uri=${encodeURIComponent(uri)}&sha256=${sha256}`;
}

/** An address for people: of a file its folder and name, since the path to them is the server's own. */
export function shownAddress(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  const shown = uri.split("/").slice(-2).join("/");
  try {
    return decodeURIComponent(shown);
  } catch {
    return shown;
  }
}
