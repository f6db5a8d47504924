import type { Anchor } from "../../../core/types.js";
import { declaredInXml, decodeText, latin1Start, readableByteByByte } from "../decode.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { blocksOf, joined } from "./blocks.js";
import { chapterContent, mainContent } from "./content.js";
import { htmlPictures } from "./html-pictures.js";
import type { Line } from "./inline.js";
import type { NoteLeftOut } from "./site-parts.js";
import { LeftOutParts } from "../left-out.js";
import { named, pageTitle, parseHtml, type HtmlElement, type HtmlNode } from "../element-tree.js";

/**
 * Reads a page's main content as Markdown: headings, lists, tables and code keep their shape, menus and scripts are left
 * out. Anchors lead from each line of the text to its line in the file.
 */
export function loadHtml(file: FileToLoad): LoadedText {
  return loadPart(file, mainContent);
}

/** Reads a chapter of a book in the same way, but all of it: nothing surrounds the content there. */
export function loadChapter(file: FileToLoad): LoadedText {
  return loadPart(file, chapterContent);
}

function loadPart(file: FileToLoad, contentOf: (page: HtmlElement, note: NoteLeftOut) => HtmlElement): LoadedText {
  const bytes = withoutNuls(file.bytes);
  const { text: source, warning } = decodeText({ ...file, bytes }, file.charset ?? declaredCharset(bytes));
  const page = parseHtml(source);
  const metadata = metadataOf(page);
  const leftOut = new LeftOutParts();
  const { children } = contentOf(page, (part, text) => leftOut.note(part, text));
  const read = markdownWithLines(children, pageTitle(page) || undefined);
  return {
    ...read,
    ...(file.wantsPictures && { pictures: htmlPictures(children, read) }),
    ...leftOut.noted,
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    ...(warning !== undefined && { warnings: [warning] }),
  };
}

/** A few NULs in a page are slips of the program that wrote it, and browsers leave them out; more are UTF-16, or no text. */
const maxNulShare = 0.001;

function withoutNuls(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(0)) return bytes;
  const nuls = bytes.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  return nuls <= Math.max(1, maxNulShare * bytes.length) ? bytes.filter((byte) => byte !== 0) : bytes;
}

/** Renders HTML that was made from another format, whole and without anchors: its lines are not the file's. */
export function markdownOfNodes(nodes: readonly HtmlNode[]): LoadedText {
  return markdownOf(joined(blocksOf(nodes)));
}

/** Renders elements whose lines are the file's, with an anchor for each line. The title is the first heading's by default. */
export function markdownWithLines(nodes: readonly HtmlNode[], title?: string): LoadedText {
  const lines = joined(blocksOf(nodes));
  const anchors: Anchor[] = [];
  let start = 0;
  for (const { text, line } of lines) {
    if (text !== "" && anchors.at(-1)?.line !== line) anchors.push({ start, line });
    start += text.length + 1;
  }
  return { ...markdownOf(lines, title), anchors };
}

function markdownOf(lines: readonly Line[], ownTitle?: string): LoadedText {
  const title = ownTitle ?? lines.map(({ text }) => /^#{1,6} (.*)/.exec(text)?.[1]).find(Boolean);
  const text = lines.map((line) => line.text).join("\n");
  return { text, anchors: [], mediaType: "text/markdown", ...(title !== undefined && { title }) };
}

/** The encoding that a page declares within its first bytes, as the HTML standard's prescan looks for it. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = latin1Start(bytes).replace(/<!--.*?-->/gs, "");
  const label = /<meta[^>]+?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1]?.toLowerCase();
  return label === undefined ? declaredInXml(start) : readableByteByByte(label);
}

const metaNames = ["description", "author", "keywords"];

function metadataOf(page: HtmlElement): (readonly [name: string, value: string])[] {
  const entries = named(page, "meta").flatMap(({ attributes }) => {
    const name = attributes["name"]?.toLowerCase() ?? "";
    const content = (attributes["content"] ?? "").replace(/\s+/g, " ").trim();
    return metaNames.includes(name) && content !== "" ? [[name, content] as const] : [];
  });
  const language = named(page, "html")[0]?.attributes["lang"];
  return language ? [...entries, ["language", language]] : entries;
}
