import type { Anchor, Metadata } from "../types.js";
import { decodeText } from "./decode.js";
import { blocksOf, joined } from "./html-blocks.js";
import { find, mainContent, textOf } from "./html-content.js";
import type { Line } from "./html-inline.js";
import { parseHtml, type HtmlElement, type HtmlNode } from "./html-tree.js";
import type { FileToLoad, LoadedText } from "./loader.js";

/**
 * A page's main content as Markdown: headings, lists, tables and code keep their shape, menus and scripts are left out.
 * Anchors lead from each line of the text to its line in the file.
 */
export function loadHtml(file: FileToLoad): LoadedText {
  const { text: source, warning } = decodeText(file, file.charset ?? declaredCharset(file.bytes));
  const page = parseHtml(source);
  const lines = joined(blocksOf(mainContent(page).children));
  const { text, anchors } = withAnchors(lines);
  const title = titleOf(page) ?? firstHeading(lines);
  const metadata = metadataOf(page);
  return {
    text,
    anchors,
    mediaType: "text/markdown",
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(warning !== undefined && { warnings: [warning] }),
  };
}

/** HTML that was made from another format, whole: its lines are nobody's, so there are no anchors. */
export function markdownOf(html: string): LoadedText {
  return markdownOfNodes(parseHtml(html).children);
}

/** The same of what would be HTML. */
export function markdownOfNodes(nodes: readonly HtmlNode[]): LoadedText {
  const lines = joined(blocksOf(nodes));
  const title = firstHeading(lines);
  return {
    text: lines.map(({ text }) => text).join("\n"),
    anchors: [],
    mediaType: "text/markdown",
    ...(title !== undefined && { title }),
  };
}

function firstHeading(lines: readonly Line[]): string | undefined {
  return lines.map(({ text }) => /^#{1,6} (.*)/.exec(text)?.[1]).find(Boolean);
}

/** What a page says its encoding is, within the first bytes, as the HTML standard's prescan looks for it. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 4096)).replace(/<!--.*?-->/gs, "");
  const label = (/<meta[^>]+?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) ??
    /^\s*<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)/.exec(start))?.[1]?.toLowerCase();
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  return label?.startsWith("utf-16") ? "utf-8" : label;
}

function withAnchors(lines: readonly Line[]): { text: string; anchors: Anchor[] } {
  const anchors: Anchor[] = [];
  let start = 0;
  for (const { text, line } of lines) {
    if (text !== "" && anchors.at(-1)?.line !== line) anchors.push({ start, line });
    start += text.length + 1;
  }
  return { text: lines.map(({ text }) => text).join("\n"), anchors };
}

function titleOf(page: HtmlElement): string | undefined {
  const [title] = find(page, ({ name }) => name === "title" || name === "svg").filter(({ name }) => name === "title");
  return (title && folded(textOf(title))) || undefined;
}

const described = ["description", "author", "keywords"];

function metadataOf(page: HtmlElement): Metadata | undefined {
  const entries = find(page, ({ name }) => name === "meta").flatMap(({ attributes }) => {
    const name = attributes["name"]?.toLowerCase() ?? "";
    const content = folded(attributes["content"] ?? "");
    return described.includes(name) && content !== "" ? [[name, content] as const] : [];
  });
  const language = find(page, ({ name }) => name === "html")[0]?.attributes["lang"];
  if (language) entries.push(["language", language]);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function folded(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
