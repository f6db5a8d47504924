import { posix } from "node:path";
import { LoadError } from "../../../core/errors.js";
import { loadChapter } from "../html/html.js";
import { find, named, type HtmlElement } from "../element-tree.js";
import type { Loader } from "../loader.js";
import { propertiesIn, unpack, type Package } from "./package.js";

/**
 * Reads a book in EPUB as Markdown, its chapters in the order of reading. It has no anchors: the reader decides where a
 * page ends.
 *
 * @throws LoadError (`unreadable`) when it is damaged, or locked by its publisher.
 */
export const loadEpub: Loader = (file, _, onProgress) => {
  const parts = unpack(file, (path) => /\.(?:x?html?|xml|opf)$/i.test(path));
  const { uri } = file;
  const path = named(parts.xml("META-INF/container.xml"), "rootfile")[0]?.attributes["full-path"];
  const book = path === undefined ? undefined : parts.xml(path);
  if (path === undefined || !book) {
    throw new LoadError("unreadable", uri, `${uri} is not an EPUB book: it has no table of parts`);
  }
  if (isLocked(parts)) {
    throw new LoadError("unreadable", uri, `${uri} is locked by its publisher: only its own reader can open it`);
  }
  const chapters = [...new Set(chapterPaths(book, posix.dirname(path)))].flatMap((chapter) => {
    onProgress?.();
    const bytes = parts.bytes(chapter);
    const text = bytes ? loadChapter({ path: chapter, uri: `${uri}#${chapter}`, bytes }).text : "";
    return text === "" ? [] : [text];
  });
  const properties = propertiesIn(book, { author: ["dc:creator"] });
  return { text: chapters.join("\n\n"), anchors: [], mediaType: "text/markdown", ...properties };
};

function chapterPaths(book: HtmlElement, folder: string): string[] {
  const items = find(book, ({ name }) => /(?:^|:)item$/.test(name));
  const paths = new Map(items.map(({ attributes }) => [attributes["id"], attributes["href"] ?? ""]));
  return find(book, ({ name }) => /(?:^|:)itemref$/.test(name)).flatMap(({ attributes }) => {
    const href = paths.get(attributes["idref"]);
    return href ? [posix.join(folder, fileOf(href))] : [];
  });
}

/** The file that an address leads to, without the place in it. */
function fileOf(href: string): string {
  const [path = ""] = href.split("#");
  try {
    return decodeURIComponent(path);
  } catch {
    // A bare percent sign.
    return path;
  }
}

/** Whether chapters are encrypted. Fonts often are, by a key that is in the book. */
function isLocked(parts: Package): boolean {
  const encryption = parts.xml("META-INF/encryption.xml");
  const locked = encryption ? find(encryption, ({ name }) => name.endsWith("CipherReference")) : [];
  return locked.some(({ attributes }) => /\.x?html?$/i.test(attributes["URI"] ?? ""));
}
