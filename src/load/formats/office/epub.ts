import { posix } from "node:path";
import { LoadError } from "../../../core/errors.js";
import { loadChapter } from "../html/html.js";
import { find, named, type HtmlElement } from "../element-tree.js";
import type { FoundPicture, Loader } from "../loader.js";
import { propertiesIn, unpack, type Package } from "./package.js";

/**
 * Reads a book in EPUB as Markdown, its chapters in the order of reading. It has no anchors: the reader decides where a
 * page ends.
 *
 * @throws LoadError (`unreadable`) when it is damaged, or locked by its publisher.
 */
export const loadEpub: Loader = (file, _, onProgress) => {
  const { uri, wantsPictures = false } = file;
  const parts = unpack(
    file,
    (path) => /\.(?:x?html?|xml|opf)$/i.test(path) || (wantsPictures && /\.(?:png|jpe?g|gif|webp|svg)$/i.test(path)),
  );
  const path = named(parts.xml("META-INF/container.xml"), "rootfile")[0]?.attributes["full-path"];
  const book = path === undefined ? undefined : parts.xml(path);
  if (path === undefined || !book) {
    throw new LoadError("unreadable", uri, `${uri} is not an EPUB book: it has no table of parts`);
  }
  if (isLocked(parts)) {
    throw new LoadError("unreadable", uri, `${uri} is locked by its publisher: only its own reader can open it`);
  }
  let text = "";
  const pictures: FoundPicture[] = [];
  for (const chapter of new Set(chapterPaths(book, posix.dirname(path)))) {
    onProgress?.();
    const bytes = parts.bytes(chapter);
    const read = bytes && loadChapter({ path: chapter, uri: `${uri}#${chapter}`, bytes, wantsPictures });
    if (!read || (read.text === "" && !read.pictures?.length)) continue;
    if (text !== "" && read.text !== "") text += "\n\n";
    const start = text.length;
    text += read.text;
    for (const picture of read.pictures ?? []) pictures.push(...inBook(picture, chapter, start, parts));
  }
  const properties = propertiesIn(book, { author: ["dc:creator"] });
  return { text, anchors: [], mediaType: "text/markdown", ...properties, ...(wantsPictures && { pictures }) };
};

/** A chapter's picture in the text of the book, with its bytes, which lie in the book, too. */
function inBook({ path, ...picture }: FoundPicture, chapter: string, start: number, parts: Package): FoundPicture[] {
  const placed = { ...picture, offset: start + picture.offset };
  if (path === undefined) return [placed];
  const bytes = parts.bytes(posix.join(posix.dirname(chapter), path));
  return [bytes ? { ...placed, bytes } : { ...placed, problem: `is ${path}, which is not in the book` }];
}

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
