import { elementNode, named, type HtmlNode } from "../element-tree.js";
import type { FoundPicture, LoadedText } from "../loader.js";
import { sourceOf } from "../picture-links.js";
import { pictureWords } from "./inline.js";

/**
 * The pictures of a page's content in their order, each at its place in the text: where its alternative words stand, else at the last
 * line of the text that the file has above it. Pictures on the web are not fetched. Pure.
 */
export function htmlPictures(content: readonly HtmlNode[], { text, anchors = [] }: LoadedText): FoundPicture[] {
  let passed = 0;
  return named(elementNode("div", content), "img").flatMap(({ attributes, line }): FoundPicture[] => {
    const source = sourceOf((attributes["src"] ?? "").trim());
    if (!source) return [];
    const caption = (attributes["alt"] ?? "").replace(/\s+/g, " ").trim();
    const words = pictureWords(caption);
    const found = words === "" ? -1 : text.indexOf(words, passed);
    const above = anchors.findLast((anchor) => (anchor.line ?? Infinity) <= line)?.start ?? 0;
    // Later pictures stand behind earlier ones, also where a page is one line.
    passed = found < 0 ? Math.max(passed, above) : found;
    return [{ offset: passed, ...source, ...(caption !== "" && { caption }) }];
  });
}
