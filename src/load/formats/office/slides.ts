import { LoadError } from "../../../core/errors.js";
import type { Anchor } from "../../../core/types.js";
import { escapeCell, markdownRows } from "../html/table.js";
import { markdownOfNodes } from "../html/html.js";
import { elementWith, isText, named, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";
import type { FoundPicture, LoadedText, Loader } from "../loader.js";
import { htmlBlocksOf } from "./odt.js";
import { openDocument, picturesIn } from "./open-document.js";
import { type Package, unpack } from "./package.js";

/**
 * Reads the slides of a PowerPoint file as Markdown: titles are headings, tables are tables, speaker's notes follow their
 * slide. Each slide has an anchor, as a page.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadPptx: Loader = (file) => {
  const parts = unpack(file, (path) =>
    (file.wantsPictures ? /\.(?:xml|rels)$|^ppt\/media\// : /\.(?:xml|rels)$/).test(path),
  );
  const slides = parts.related("ppt/presentation.xml", "slide");
  const { uri } = file;
  if (slides.length === 0) throw new LoadError("unreadable", uri, `${uri} is not a PowerPoint file with slides`);
  const texts = slides.map(({ path }) => {
    const notes = parts.related(path, "notesSlide").flatMap((note) => blocksOf(parts.xml(note.path), "body"));
    return [...blocksOf(parts.xml(path)), ...notes].join("\n\n");
  });
  const pages = pagesOf(texts);
  return {
    ...pages,
    ...parts.properties(),
    ...(file.wantsPictures && {
      pictures: slides.flatMap(({ path }, index) => picturesOn(path, index + 1, parts, pages)),
    }),
  };
};

/** The pictures of one slide, behind its words. */
function picturesOn(slide: string, page: number, parts: Package, pages: LoadedText): FoundPicture[] {
  const offset = endOfPage(page, pages);
  const shown = named(parts.xml(slide), "p:pic");
  return parts.related(slide, "image").flatMap(({ id, path }) => {
    const bytes = parts.bytes(path);
    const frame = shown.find((one) => named(one, "a:blip").some(({ attributes }) => attributes["r:embed"] === id));
    const caption = named(frame, "p:cNvPr")[0]?.attributes["descr"]?.trim();
    return bytes ? [{ bytes, offset, page, ...(caption && { caption }) }] : [];
  });
}

function endOfPage(page: number, { text, anchors = [] }: LoadedText): number {
  const next = anchors.find((anchor) => anchor.page! > page)?.start ?? text.length;
  return text.slice(0, next).trimEnd().length;
}

/** Slides as one text, an empty line between two; each that is not empty has an anchor, as a page. */
export function pagesOf(slides: readonly string[]): LoadedText {
  const anchors: Anchor[] = [];
  let text = "";
  for (const [index, slide] of slides.entries()) {
    if (slide === "") continue;
    if (text !== "") text += "\n\n";
    anchors.push({ start: text.length, page: index + 1 });
    text += slide;
  }
  return { text, anchors, mediaType: "text/markdown" };
}

/** @param only for notes, the kind of shape that holds the words: others repeat the slide and its number */
function blocksOf(slide: HtmlElement | undefined, only?: string): string[] {
  // A fallback repeats a shape for older programs.
  const shapes = named(slide, "p:sp", "a:tbl", "mc:Fallback").filter(({ name }) => name !== "mc:Fallback");
  return shapes.flatMap((shape) => {
    if (shape.name === "a:tbl") return only === undefined ? [tableOf(shape)] : [];
    const kind = named(shape, "p:ph")[0]?.attributes["type"] ?? "";
    if (only !== undefined ? kind !== only : kind === "sldNum") return [];
    const lines = named(shape, "a:p")
      .map(paragraphOf)
      .filter((line) => line !== "");
    if (lines.length === 0) return [];
    return /title$/i.test(kind) ? [`# ${lines.join(" ")}`] : [lines.join("\n")];
  });
}

function paragraphOf(paragraph: HtmlElement): string {
  const parts = named(paragraph, "a:r", "a:fld", "a:br").map((part) => (part.name === "a:br" ? " " : runOf(part)));
  return parts.join("").replace(/\s+/gu, " ").trim();
}

/** The words of a run; raised digits are a power, as 10⁶ is not 106. */
function runOf(run: HtmlElement): string {
  const text = named(run, "a:t").map(textOf).join("");
  const raised = named(run, "a:rPr").some(({ attributes }) => Number(attributes["baseline"]) > 0);
  return raised && /^[-\u2212]?\d+$/u.test(text.trim()) ? `^${text}` : text;
}

function tableOf(table: HtmlElement): string {
  const cellText = (cell: HtmlElement) => escapeCell(named(cell, "a:p").map(paragraphOf).join(" ").trim());
  const rows = named(table, "a:tr").map((row) => named(row, "a:tc").map(cellText));
  return markdownRows(rows).join("\n");
}

/**
 * Reads slides in OpenDocument as Markdown: titles are headings, speaker's notes follow their slide. Each slide has an
 * anchor, as a page.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadOdp: Loader = (file) => {
  const opened = openDocument(file, "presentation");
  const drawn = named(opened.body, "draw:page");
  const slides = drawn.map((slide) => {
    const parts = [slide, ...named(slide, "presentation:notes")];
    const shapes = parts.flatMap(({ children }) => htmlBlocksOf(children.map(titleAsHeading), opened));
    return markdownOfNodes(shapes).text;
  });
  const pages = pagesOf(slides);
  return {
    ...pages,
    ...opened.properties,
    ...(file.wantsPictures && {
      pictures: drawn.flatMap((slide, index) => {
        const page = index + 1;
        return picturesIn(slide, opened, { page, offset: endOfPage(page, pages) });
      }),
    }),
  };
};

/** The frame of a title as a heading. */
function titleAsHeading(node: HtmlNode): HtmlNode {
  if (isText(node) || node.attributes["presentation:class"] !== "title") return node;
  const lines = named(node, "text:p", "text:h").flatMap(({ children }) => [...children, { text: " ", line: 1 }]);
  return elementWith(node, { name: "text:h", children: lines });
}
