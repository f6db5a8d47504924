import type { Anchor } from "../types.js";
import { find } from "./html-content.js";
import type { HtmlElement, HtmlNode } from "./html-tree.js";
import { markdownOfNodes } from "./html.js";
import type { Loader } from "./loader.js";
import { openDocument } from "./office/open-document.js";
import { htmlBlocksOf } from "./office/open-document-blocks.js";

/**
 * Slides in OpenDocument as Markdown: titles are headings, speaker's notes stand behind their slide. Each slide has an
 * anchor, as a page.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadOdp: Loader = (file) => {
  const opened = openDocument(file, "presentation");
  const anchors: Anchor[] = [];
  let text = "";
  const slides = find(opened.body, ({ name }) => name === "draw:page");
  for (const [index, slide] of slides.entries()) {
    const notes = find(slide, ({ name }) => name === "presentation:notes");
    const shapes = [slide, ...notes].flatMap(({ children }) => htmlBlocksOf(children.map(asHeading), opened));
    const words = markdownOfNodes(shapes).text;
    if (words === "") continue;
    if (text !== "") text += "\n\n";
    anchors.push({ start: text.length, page: index + 1 });
    text += words;
  }
  return { text, anchors, mediaType: "text/markdown", ...opened.properties };
};

/** The frame of a title as a heading. */
function asHeading(node: HtmlNode): HtmlNode {
  if ("text" in node || node.attributes["presentation:class"] !== "title") return node;
  const words: HtmlElement[] = find(node, ({ name }) => name === "text:p" || name === "text:h");
  return { ...node, name: "text:h", children: words.flatMap(({ children }) => [...children, { text: " ", line: 1 }]) };
}
