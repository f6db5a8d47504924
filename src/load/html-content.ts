import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";

/** Never content: code and styles of the page, things to click, pictures drawn by commands. */
const invisible: ReadonlySet<string> = new Set(
  "script style noscript template svg canvas iframe object embed audio video map head title meta link base button select input textarea datalist dialog menu".split(
    " ",
  ),
);
/** Around the content: the way to other pages. */
const surroundings: ReadonlySet<string> = new Set(["nav", "footer", "aside"]);
const surroundingRoles: ReadonlySet<string> = new Set([
  "navigation",
  "banner",
  "contentinfo",
  "complementary",
  "search",
  "dialog",
]);

/** Share of a page's text from which on a lone `<article>` is what the page is about. */
const articleShare = 0.25;

/** The part of a page that people come for, without what is not for reading. */
export function mainContent(page: HtmlElement): HtmlElement {
  const body = find(page, ({ name }) => name === "body")[0] ?? page;
  const mains = find(body, ({ name, attributes }) => name === "main" || attributes["role"] === "main");
  const main = mains.map((element) => readable(element, true)).find((element) => textLength(element) > 0);
  if (main) return main;
  const all = readable(body, false);
  const articles = find(all, ({ name }) => name === "article");
  const [article] = articles;
  const isContent = article && articles.length === 1 && textLength(article) >= articleShare * textLength(all);
  return isContent ? article : all;
}

/** Elements that pass, the outermost of each branch, in order. */
export function find(root: HtmlElement, passes: (element: HtmlElement) => boolean): HtmlElement[] {
  const found: HtmlElement[] = [];
  const visit = (element: HtmlElement) => {
    for (const child of element.children) {
      if (isText(child)) continue;
      if (passes(child)) found.push(child);
      else visit(child);
    }
  };
  visit(root);
  return found;
}

/** All text inside, as it stands. */
export function textOf(node: HtmlNode): string {
  return isText(node) ? node.text : node.children.map(textOf).join("");
}

function readable(element: HtmlElement, inContent: boolean): HtmlElement {
  const content = inContent || element.name === "main" || element.name === "article";
  const children = element.children.flatMap((child): HtmlNode[] => {
    if (isText(child)) return [child];
    if (isHidden(child) || isSurrounding(child)) return [];
    // The header of a page is its menu; that of an article holds its title.
    if (child.name === "header" && !content) return find(child, ({ name }) => name === "h1");
    return [readable(child, content)];
  });
  return { ...element, children };
}

function isHidden({ name, attributes }: HtmlElement): boolean {
  return (
    invisible.has(name) ||
    "hidden" in attributes ||
    attributes["aria-hidden"] === "true" ||
    /display\s*:\s*none/i.test(attributes["style"] ?? "")
  );
}

function isSurrounding({ name, attributes }: HtmlElement): boolean {
  return surroundings.has(name) || surroundingRoles.has(attributes["role"] ?? "");
}

function textLength(element: HtmlElement): number {
  return textOf(element).replace(/\s+/g, "").length;
}
