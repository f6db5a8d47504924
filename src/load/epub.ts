import { posix } from "node:path";
import { LoadError } from "../errors.js";
import { find, textOf } from "./html-content.js";
import type { HtmlElement } from "./html-tree.js";
import { loadHtml } from "./html.js";
import type { Loader } from "./loader.js";
import { unpack, type Package } from "./office/package.js";

/**
 * A book in EPUB as Markdown, its chapters in the order of reading. It has no anchors: its pages are the reader's.
 *
 * @throws LoadError (`unreadable`) when it is damaged, or locked by its publisher.
 */
export const loadEpub: Loader = (file) => {
  const parts = unpack(file, (path) => /\.(?:x?html?|xml|opf)$/i.test(path));
  const { uri } = file;
  const rootFile = parts.xml("META-INF/container.xml");
  const path = rootFile && find(rootFile, ({ name }) => name === "rootfile")[0]?.attributes["full-path"];
  const book = path === undefined ? undefined : parts.xml(path);
  if (path === undefined || !book)
    throw new LoadError("unreadable", uri, `${uri} is no EPUB book: it has no table of parts`);
  if (isLocked(parts)) {
    throw new LoadError("unreadable", uri, `${uri} is locked by its publisher: only its own reader can open it`);
  }
  const chapters = [...new Set(chapterPaths(book, posix.dirname(path)))].flatMap((each) => {
    const bytes = parts.bytes(each);
    const text = bytes ? loadHtml({ path: each, uri: `${uri}#${each}`, bytes }).text : "";
    return text === "" ? [] : [text];
  });
  const title = said(book, "dc:title");
  const author = said(book, "dc:creator");
  return {
    text: chapters.join("\n\n"),
    anchors: [],
    mediaType: "text/markdown",
    ...(title !== undefined && { title }),
    ...(author !== undefined && { metadata: { author } }),
  };
};

function chapterPaths(book: HtmlElement, folder: string): string[] {
  const items = find(book, ({ name }) => /(?:^|:)item$/.test(name));
  const paths = new Map(items.map(({ attributes }) => [attributes["id"], attributes["href"] ?? ""]));
  return find(book, ({ name }) => /(?:^|:)itemref$/.test(name)).flatMap(({ attributes }) => {
    const href = paths.get(attributes["idref"]);
    return href ? [posix.join(folder, fileOf(href))] : [];
  });
}

/** The file that an address leads to, whichever place in it. */
function fileOf(href: string): string {
  const [path = ""] = href.split("#");
  try {
    return decodeURIComponent(path);
  } catch {
    // A percent sign that is one.
    return path;
  }
}

/** Whether chapters are encrypted. Fonts often are, by a key that is in the book. */
function isLocked(parts: Package): boolean {
  const encryption = parts.xml("META-INF/encryption.xml");
  const locked = encryption ? find(encryption, ({ name }) => name.endsWith("CipherReference")) : [];
  return locked.some(({ attributes }) => /\.x?html?$/i.test(attributes["URI"] ?? ""));
}

function said(book: HtmlElement, wanted: string): string | undefined {
  const [element] = find(book, ({ name }) => name === wanted);
  return (element && textOf(element).replace(/\s+/gu, " ").trim()) || undefined;
}
