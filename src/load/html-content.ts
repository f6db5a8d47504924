import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";

/** Never content: code and styles of the page, things to click, pictures drawn by commands. */
const invisible: ReadonlySet<string> = new Set(
  "script style noscript template svg canvas iframe object embed audio video map head title meta link base button select input textarea datalist dialog menu".split(
    " ",
  ),
);
/** Ways to other pages, wherever they stand. */
const navigation: ReadonlySet<string> = new Set(["nav", "navigation", "banner", "search", "dialog"]);
/** Around the content; inside it they are remarks, notes and sources, unless they are links for the most part. */
const surroundings: ReadonlySet<string> = new Set(["footer", "aside", "contentinfo", "complementary"]);
/** Parts of a page with a header of their own. */
const sections: ReadonlySet<string> = new Set(["main", "article", "section"]);

/** Share of a part's text from which on links are what it is made of. */
const mostLinks = 0.5;

/** Share of a page's text from which on a part is what the page is about, whatever its name. */
const mostFurniture = 0.5;
/** Share of a page's text from which on a lone `<article>` is what the page is about. */
const articleShare = 0.25;

/** The part of a page that people come for, without what is not for reading. */
export function mainContent(page: HtmlElement): HtmlElement {
  const body = find(page, ({ name }) => name === "body")[0] ?? page;
  const mains = find(body, ({ name, attributes }) => name === "main" || attributes["role"] === "main");
  const main = mains
    .filter((element) => !isHidden(element))
    .map((element) => readable(element, { ...onPage, inSection: true, inContent: true }))
    .find((element) => textLength(element) > 0);
  if (main) return main;
  const whole = readable(body, onPage);
  const without = readable(body, { ...onPage, leastContent: mostFurniture * textLength(whole) });
  // Where nothing else is left, what goes by such a name is what there is to read.
  const all = textLength(without) > 0 ? without : whole;
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
  /** In a part of the page that has a header of its own. */
  readonly inSection: boolean;
  readonly inContent: boolean;
  readonly inHeader: boolean;
  /** Characters from which on a part is content, whatever its name. */
  readonly leastContent: number;
}

const onPage: Where = { inSection: false, inContent: false, inHeader: false, leastContent: 0 };

function readable(element: HtmlElement, where: Where): HtmlElement {
  const inContent = where.inContent || element.name === "main" || element.name === "article";
  const inSection = where.inSection || inContent || sections.has(element.name);
  const inHeader = where.inHeader || element.name === "header";
  const children = element.children.flatMap((child): HtmlNode[] => {
    if (isText(child)) return [child];
    if (isHidden(child) || isNavigation(child) || isMenu(child, inHeader)) return [];
    if (isSurrounding(child) && element.name !== "blockquote" && (!inContent || isMostlyLinks(child))) return [];
    if (!inContent && isFurniture(child) && textLength(child) < where.leastContent) return [];
    // The header of a page is its menu; that of an article holds its title.
    if (child.name === "header" && !inSection) return find(child, ({ name }) => name === "h1");
    return [readable(child, { ...where, inSection, inContent, inHeader })];
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
    // What is hidden until it is searched for is there to be found.
    (attributes["hidden"] ?? "until-found").toLowerCase() !== "until-found" ||
    attributes["aria-hidden"] === "true" ||
    /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes["style"] ?? "")
  );
}

function isNavigation({ name, attributes }: HtmlElement): boolean {
  return navigation.has(name) || navigation.has(attributes["role"] ?? "");
}

function isSurrounding({ name, attributes }: HtmlElement): boolean {
  return surroundings.has(name) || surroundings.has(attributes["role"] ?? "");
}

function isMostlyLinks(element: HtmlElement): boolean {
  const inLinks = find(element, ({ name }) => name === "a").reduce((sum, link) => sum + textLength(link), 0);
  return inLinks >= mostLinks * textLength(element);
}

/** Names that makers of sites give to what asks for consent, and to the ways to other pages. */
const furniture =
  /(?:^|\s)(?:(?:[\w-]+[-_])?(?:cookies?|gdpr|ccpa)[-_]?(?:banner|consent|notice|bar|popup|modal|overlay|message|alert|law)(?:[-_][\w-]+)?|onetrust-[\w-]+|cybotcookiebot\w*|didomi-[\w-]+|cmplz-[\w-]+|cky-[\w-]+|usercentrics-root|nav|navbar|navigation|breadcrumbs?|sidebar|footer|(?:site|page|main|global)[-_](?:nav|navigation|footer|sidebar)|skip-?(?:link|nav|to-content))(?=\s|$)/i;

/** Whether an element is by its name no content, and nothing in it says otherwise. */
function isFurniture(element: HtmlElement): boolean {
  const { id = "", class: classes = "" } = element.attributes;
  if (element.name === "body" || (!furniture.test(id) && !furniture.test(classes))) return false;
  return find(element, ({ name }) => name === "h1" || name === "main" || name === "article").length === 0;
}

function textLength(element: HtmlElement): number {
  return textOf(element).replace(/\s+/g, "").length;
}
