import { markdownOfNodes } from "./html.js";
import type { Loader } from "./loader.js";
import { openDocument } from "./office/open-document.js";
import { htmlBlocksOf } from "./office/open-document-blocks.js";

/**
 * A text of LibreOffice and others in OpenDocument as Markdown: headings, lists, tables and notes. Page headers, pictures,
 * remarks and what was deleted are left out. It has no anchors: where a page of such a file ends is up to the program that
 * shows it.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadOdt: Loader = (file) => {
  const opened = openDocument(file, "text");
  return { ...markdownOfNodes(htmlBlocksOf(opened.body.children, opened)), ...opened.properties };
};
