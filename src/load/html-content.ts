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
  const main = mains
    .map((element) => readable(element, { inContent: true, inHeader: false }))
    .find((element) => textLength(element) > 0);
  if (main) return main;
  const all = readable(body, { inContent: false, inHeader: false });
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

interface Where {
  readonly inContent: boolean;
  readonly inHeader: boolean;
}

function readable(element: HtmlElement, where: Where): HtmlElement {
  const inContent = where.inContent || element.name === "main" || element.name === "article";
  const inHeader = where.inHeader || element.name === "header";
  const children = element.children.flatMap((child): HtmlNode[] => {
    if (isText(child)) return [child];
    if (isHidden(child) || isSurrounding(child) || isMenu(child, inHeader)) return [];
    // The header of a page is its menu; that of an article holds its title.
    if (child.name === "header" && !inContent) return find(child, ({ name }) => name === "h1");
    return [readable(child, { inContent, inHeader })];
  });
  return { ...element, children };
}

/** A list of nothing but links, in a header or to places of the same page: those have headings of their own. */
function isMenu(element: HtmlElement, inHeader: boolean): boolean {
  if (element.name !== "ul" && element.name !== "ol") return false;
  const links = find(element, ({ name }) => name === "a");
  const leadsAway = links.some(({ attributes }) => !attributes["href"]?.startsWith("#"));
  if (links.length < 2 || (leadsAway && !inHeader)) return false;
  return links.reduce((sum, link) => sum + textLength(link), 0) === textLength(element);
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
