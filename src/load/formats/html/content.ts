import { find, isText, named, textOf, type HtmlElement, type HtmlNode } from "./tree.js";

/** Elements that never hold content: code and styles of the page, controls, drawings. */
const invisible: ReadonlySet<string> = new Set(
  "script style noscript template svg canvas iframe object embed audio video map head title meta link base button select input textarea datalist dialog menu".split(
    " ",
  ),
);
/** Elements and roles of navigation, wherever they stand. */
const navigation: ReadonlySet<string> = new Set(["nav", "navigation", "banner", "search", "dialog"]);
/** Elements around the content; inside it they are remarks, notes and sources, unless they are mostly links. */
const surroundings: ReadonlySet<string> = new Set(["footer", "aside", "contentinfo", "complementary"]);
/** Parts of a page with a header of their own. */
const sections: ReadonlySet<string> = new Set(["main", "article", "section"]);

/** Share of a part's text that is in links, from which on the part is navigation. */
const maxLinkShare = 0.5;

/** A part with a larger share of the page's text is content, whatever its name. */
const maxFurnitureShare = 0.5;
/** A lone `<article>` with at least this share of the page's text is the content. */
const minArticleShare = 0.25;

/** The part of a page that people come for, without navigation, controls and hidden parts. */
export function mainContent(page: HtmlElement): HtmlElement {
  const [body = page] = named(page, "body");
  const mains = find(body, ({ name, attributes }) => name === "main" || attributes["role"] === "main");
  const main = mains
    .filter((element) => !isHidden(element))
    .map((element) => readable(element, { ...onPage, inSection: true, inContent: true }))
    .find((element) => textLength(element) > 0);
  if (main) return main;
  const whole = readable(body, onPage);
  const without = readable(body, { ...onPage, minContent: maxFurnitureShare * textLength(whole) });
  // Where nothing else is left, the parts by such names are the content.
  const all = textLength(without) > 0 ? without : whole;
  const articles = named(all, "article");
  const [article] = articles;
  const isContent = article && articles.length === 1 && textLength(article) >= minArticleShare * textLength(all);
  return isContent ? article : all;
}

interface Position {
  /** Inside a part of the page that has a header of its own. */
  readonly inSection: boolean;
  readonly inContent: boolean;
  readonly inHeader: boolean;
  /** A part with this many characters is content, whatever its name. */
  readonly minContent: number;
}

const onPage: Position = { inSection: false, inContent: false, inHeader: false, minContent: 0 };

function readable(element: HtmlElement, position: Position): HtmlElement {
  const inContent = position.inContent || element.name === "main" || element.name === "article";
  const inSection = position.inSection || inContent || sections.has(element.name);
  const inHeader = position.inHeader || element.name === "header";
  const children = element.children.flatMap((child): HtmlNode[] => {
    if (isText(child)) return [child];
    if (isHidden(child) || isNavigation(child) || isMenu(child, inHeader)) return [];
    if (isSurrounding(child) && element.name !== "blockquote" && (!inContent || isMostlyLinks(child))) return [];
    if (!inContent && isFurniture(child) && textLength(child) < position.minContent) return [];
    // The header of a page is its menu; that of an article holds its title.
    if (child.name === "header" && !inSection) return named(child, "h1");
    return [readable(child, { ...position, inSection, inContent, inHeader })];
  });
  return { ...element, children };
}

/** Whether a list is nothing but links, in a header or to places of the same page: those have headings of their own. */
function isMenu(element: HtmlElement, inHeader: boolean): boolean {
  if (element.name !== "ul" && element.name !== "ol") return false;
  const links = named(element, "a");
  const leadsAway = links.some(({ attributes }) => !attributes["href"]?.startsWith("#"));
  if (links.length < 2 || (leadsAway && !inHeader)) return false;
  return totalLength(links) === textLength(element);
}

function isHidden({ name, attributes }: HtmlElement): boolean {
  return (
    invisible.has(name) ||
    // Text that is hidden until it is searched for is there to be found.
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
  return totalLength(named(element, "a")) >= maxLinkShare * textLength(element);
}

/** Names that sites give to consent dialogs and to navigation. */
const furniture =
  /(?:^|\s)(?:(?:[\w-]+[-_])?(?:cookies?|gdpr|ccpa)[-_]?(?:banner|consent|notice|bar|popup|modal|overlay|message|alert|law)(?:[-_][\w-]+)?|onetrust-[\w-]+|cybotcookiebot\w*|didomi-[\w-]+|cmplz-[\w-]+|cky-[\w-]+|usercentrics-root|nav|navbar|navigation|breadcrumbs?|sidebar|footer|(?:site|page|main|global)[-_](?:nav|navigation|footer|sidebar)|skip-?(?:link|nav|to-content))(?=\s|$)/i;

/** Whether an element is furniture by its name, and nothing in it says otherwise. */
function isFurniture(element: HtmlElement): boolean {
  const { id = "", class: classes = "" } = element.attributes;
  if (element.name === "body" || (!furniture.test(id) && !furniture.test(classes))) return false;
  return named(element, "h1", "main", "article").length === 0;
}

function totalLength(elements: readonly HtmlElement[]): number {
  return elements.reduce((sum, element) => sum + textLength(element), 0);
}

function textLength(element: HtmlElement): number {
  return textOf(element).replace(/\s+/g, "").length;
}
