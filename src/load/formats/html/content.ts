import { articleIn } from "./article.js";
import type { NoteLeftOut } from "./site-parts.js";
import { elementWith, isText, lineOf, named, withReplaced, type HtmlElement } from "../element-tree.js";

/** Elements that never hold content: code and styles of the page, drawings, and lists to choose from. */
const invisible: ReadonlySet<string> = new Set(
  "script style noscript template svg canvas iframe object embed audio video map head title meta link base select datalist dialog menu".split(
    " ",
  ),
);
/** Their labels are no content, but their number tells a form from an article. */
const controls: ReadonlySet<string> = new Set(["button", "input", "textarea"]);
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
/** The `<main>` parts, or a lone `<article>`, are the content if they have at least this share of the page's text. */
const minMainShare = 0.2;

/** An `<article>` with this many times the text of the next is what the page is about. */
const minLead = 5;

/** Main content of a page, without navigation, controls and hidden parts. */
export function mainContent(page: HtmlElement, note: NoteLeftOut): HtmlElement {
  const [body = page] = named(page, "body");
  const content = contentByNames(withoutParts(body, isHidden));
  return articleIn(content, page, note) ?? withoutEdgeMenus(content);
}

/** Links that a menu has at least. */
const minMenuLinks = 3;
/** Characters of an entry of a menu, at most on average. */
const maxEntryCharacters = 30;

/** Elements by which the edges of the content are found. */
const atEdges: ReadonlySet<string> = new Set("h1 h2 h3 h4 h5 h6 p pre dl table ul ol".split(" "));

/**
 * The content without lists of nothing but short links above its first heading or paragraph and below its last one, unless
 * a heading stands right before them. A page that is mostly such lists is an index, and stays whole.
 */
function withoutEdgeMenus(content: HtmlElement): HtmlElement {
  const order: HtmlElement[] = [];
  const linked = new Set<HtmlElement>();
  const walk = (element: HtmlElement, inLink: boolean) => {
    for (const child of element.children) {
      if (isText(child) || child.name === "main" || child.name === "article") continue;
      if (atEdges.has(child.name)) order.push(child);
      if (inLink) linked.add(child);
      if (child.name !== "ul" && child.name !== "ol") walk(child, inLink || child.name === "a");
    }
  };
  walk(content, content.name === "a");
  const isMenuList = (element: HtmlElement) => {
    if (element.name !== "ul" && element.name !== "ol") return false;
    const { text, inLinks } = element.size;
    if (inLinks < text && !linked.has(element)) return false;
    const links = named(element, "a").length;
    return links >= minMenuLinks && text <= maxEntryCharacters * links;
  };
  const isRights = (element: HtmlElement) => element.name === "p" && /^(?:©|copyright\b)/i.test(lineOf(element));
  const start = order.findIndex((element) => !isMenuList(element));
  const end = order.findLastIndex((element) => !isMenuList(element) && !isRights(element));
  const isHeading = (element: HtmlElement | undefined) => /^h[1-6]$/.test(element?.name ?? "");
  const menus = new Set(
    start < 0
      ? []
      : [...order.slice(0, start), ...(isHeading(order[end]) ? [] : order.slice(end + 1).filter(isMenuList))],
  );
  let text = 0;
  for (const menu of menus) text += menu.size.text;
  return menus.size > 0 && text / Math.max(1, content.size.text) < maxFurnitureShare
    ? withoutParts(content, (element) => menus.has(element))
    : content;
}

/** A chapter of a book: all that is visible in it but navigation. The words of a drawing are content, too. */
export function chapterContent(page: HtmlElement): HtmlElement {
  const [body = page] = named(page, "body");
  return withoutParts(body, (element) => (element.name !== "svg" && isHidden(element)) || isNavigation(element));
}

function withoutParts(element: HtmlElement, isLeftOut: (child: HtmlElement) => boolean): HtmlElement {
  return withReplaced(element, (child) => {
    if (isText(child)) return child;
    return isLeftOut(child) ? [] : withoutParts(child, isLeftOut);
  });
}

/** The content of a page without hidden parts, as the names of elements and classes tell it. */
function contentByNames(body: HtmlElement): HtmlElement {
  const onPage = { inLink: false, inSection: false, inContent: false, inHeader: false, minContent: 0 };
  const parts = mainParts(body, body.name === "a").map(({ element, inLink }) =>
    readable(element, { ...onPage, inLink, inSection: true, inContent: true }),
  );
  const mains = elementWith(body, { children: parts });
  const isMain = (page: HtmlElement) => mains.size.text >= Math.max(1, minMainShare * page.size.text);
  // Most pages have one such part, and it is the content whatever is left of what surrounds it.
  if (parts.length === 1 && isMain(body)) return mains;
  const whole = readable(body, onPage);
  const without = readable(body, { ...onPage, minContent: maxFurnitureShare * whole.size.text });
  // If nothing else is left, the parts with such names are the content.
  const all = without.size.text > 0 ? without : whole;
  const article = mainArticle(named(all, "article"));
  const candidates = [...(parts.length > 1 ? article : []), mains, ...article];
  const minText = Math.max(1, minMainShare * all.size.text);
  return candidates.find(({ size }) => size.text >= minText) ?? all;
}

interface MainPart {
  readonly element: HtmlElement;
  /** Whether it stands in a link. */
  readonly inLink: boolean;
}

/** The outermost `<main>` parts. */
function mainParts({ children }: HtmlElement, inLink: boolean): MainPart[] {
  return children.flatMap((child): MainPart[] => {
    if (isText(child)) return [];
    if (child.name === "main" || child.attributes["role"] === "main") return [{ element: child, inLink }];
    return mainParts(child, inLink || child.name === "a");
  });
}

/** The only `<article>`, or the one beside which the others are teasers. */
function mainArticle(articles: readonly HtmlElement[]): readonly HtmlElement[] {
  const [largest, second] = articles.toSorted((one, other) => other.size.text - one.size.text);
  const isFarAhead = largest && (!second || largest.size.text >= minLead * second.size.text);
  return isFarAhead ? [largest] : [];
}

interface Position {
  readonly inLink: boolean;
  /** Inside a part of the page that has a header of its own. */
  readonly inSection: boolean;
  readonly inContent: boolean;
  readonly inHeader: boolean;
  /** A part with this many characters is content, whatever its name. */
  readonly minContent: number;
}

function readable(element: HtmlElement, around: Position): HtmlElement {
  const { name } = element;
  const { minContent } = around;
  const inLink = around.inLink || name === "a";
  const inContent = around.inContent || name === "main" || name === "article";
  const inSection = around.inSection || inContent || sections.has(name);
  const inHeader = around.inHeader || name === "header";
  const position = { inLink, inSection, inContent, inHeader, minContent };
  return withReplaced(element, (child) => {
    if (isText(child)) return child;
    if (isNavigation(child) || isMenu(child, position)) return [];
    if (controls.has(child.name)) return elementWith(child, { children: [] });
    if (isSurrounding(child) && name !== "blockquote" && (!inContent || isMostlyLinks(child, inLink))) return [];
    if (!inContent && child.size.text < minContent && isFurniture(child)) return [];
    // The header of a page is its menu; that of an article holds its title.
    if (child.name === "header" && !inSection) return named(child, "h1");
    return readable(child, position);
  });
}

function isMostlyLinks({ size: { text, inLinks } }: HtmlElement, inLink: boolean): boolean {
  return (inLink ? text : inLinks) >= maxLinkShare * text;
}

/** Whether a list is nothing but links, in a header or to places of the same page: those have headings of their own. */
function isMenu(element: HtmlElement, { inHeader, inLink }: Position): boolean {
  if (element.name !== "ul" && element.name !== "ol") return false;
  const { text, inLinks } = element.size;
  if (inLinks < text && !inLink) return false;
  const links = named(element, "a");
  return links.length >= 2 && (inHeader || links.every(({ attributes }) => attributes["href"]?.startsWith("#")));
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

/** Names that sites give to consent dialogs and navigation, and Confluence to the byline of a page. */
const furniture =
  /(?:^|\s)(?:(?:[\w-]+[-_])?(?:cookies?|gdpr|ccpa)[-_]?(?:banner|consent|notice|bar|popup|modal|overlay|message|alert|law)(?:[-_][\w-]+)?|onetrust-[\w-]+|cybotcookiebot\w*|didomi-[\w-]+|cmplz-[\w-]+|cky-[\w-]+|usercentrics-root|nav|navbar|navigation|breadcrumbs?|sidebar|footer|(?:site|page|main|global)[-_](?:nav|navigation|footer|sidebar)|skip-?(?:link|nav|to-content)|page-metadata)(?=\s|$)/i;

/** Whether an element is furniture by its name, and nothing in it says otherwise. */
function isFurniture(element: HtmlElement): boolean {
  const { id = "", class: classes = "" } = element.attributes;
  if (element.name === "body" || (!furniture.test(id) && !furniture.test(classes))) return false;
  return named(element, "h1", "main", "article").length === 0;
}
