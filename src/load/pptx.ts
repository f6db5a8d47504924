import { LoadError } from "../errors.js";
import type { Anchor } from "../types.js";
import { find } from "./html-content.js";
import { isText, type HtmlElement } from "./html-tree.js";
import type { Loader } from "./loader.js";
import { documentProperties } from "./office/document-properties.js";
import { unpack } from "./office/package.js";
import { related } from "./office/related-parts.js";

/**
 * Slides of a PowerPoint file as Markdown: titles are headings, tables are tables, speaker's notes stand behind their
 * slide. Each slide has an anchor, as a page.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadPptx: Loader = (file) => {
  const parts = unpack(file, (path) => /\.(?:xml|rels)$/.test(path));
  const slides = related(parts, "ppt/presentation.xml", "slide");
  const { uri } = file;
  if (slides.length === 0) throw new LoadError("unreadable", uri, `${uri} is no PowerPoint file with slides`);
  const anchors: Anchor[] = [];
  let text = "";
  for (const [index, path] of slides.entries()) {
    const notes = related(parts, path, "notesSlide").flatMap((each) => blocksOf(parts.xml(each), "body"));
    const blocks = [...blocksOf(parts.xml(path)), ...notes];
    if (blocks.length === 0) continue;
    if (text !== "") text += "\n\n";
    anchors.push({ start: text.length, page: index + 1 });
    text += blocks.join("\n\n");
  }
  return { text, anchors, mediaType: "text/markdown", ...documentProperties(parts) };
};

/** @param only of notes, the kind of shape that holds the words: others repeat the slide and its number */
function blocksOf(slide: HtmlElement | undefined, only?: string): string[] {
  if (!slide) return [];
  const shapes = find(slide, ({ name }) => name === "p:sp" || name === "a:tbl" || name === "mc:Fallback").filter(
    // The same again for older programs.
    ({ name }) => name !== "mc:Fallback",
  );
  return shapes.flatMap((shape) => {
    if (shape.name === "a:tbl") return only === undefined ? [tableOf(shape)] : [];
    const kind = find(shape, ({ name }) => name === "p:ph")[0]?.attributes["type"] ?? "";
    if (only !== undefined ? kind !== only : kind === "sldNum") return [];
    const lines = find(shape, ({ name }) => name === "a:p")
      .map(paragraphOf)
      .filter((line) => line !== "");
    if (lines.length === 0) return [];
    return /title$/i.test(kind) ? [`# ${lines.join(" ")}`] : [lines.join("\n")];
  });
}

function paragraphOf(paragraph: HtmlElement): string {
  return find(paragraph, ({ name }) => name === "a:r" || name === "a:fld" || name === "a:br")
    .map((part) => (part.name === "a:br" ? " " : runOf(part)))
    .join("")
    .replace(/\s+/gu, " ")
    .trim();
}

/** Words of a run; digits that are raised are a power, as 10⁶ is not 106. */
function runOf(run: HtmlElement): string {
  const text = find(run, ({ name }) => name === "a:t")
    .flatMap(({ children }) => children)
    .map((child) => (isText(child) ? child.text : ""))
    .join("");
  const raised = find(run, ({ name }) => name === "a:rPr").some(({ attributes }) => Number(attributes["baseline"]) > 0);
  return raised && /^[-\u2212]?\d+$/u.test(text.trim()) ? `^${text}` : text;
}

function tableOf(table: HtmlElement): string {
  const rows = find(table, ({ name }) => name === "a:tr").map((row) =>
    find(row, ({ name }) => name === "a:tc").map((cell) =>
      find(cell, ({ name }) => name === "a:p")
        .map(paragraphOf)
        .join(" ")
        .trim()
        .replaceAll("|", "\\|"),
    ),
  );
  const asRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [asRow(head), asRow(head.map(() => "---")), ...body.map(asRow)].join("\n");
}
