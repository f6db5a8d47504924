import { createRequire } from "node:module";
import { mayBeArticle } from "./page-kind.js";
import { withoutSiteParts, type NoteLeftOut } from "./site-parts.js";
import { find, isText, pageTitle, withReplaced, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** Parts with less text hold too few sentences to tell an article from what surrounds it. */
const minCharacters = 500;
/**
 * The depths of all nodes, added up, beyond which a page is left as it is: Readability asks each element for its whole text,
 * and so looks at each node as often as it is deep. An encyclopedia's page of 250 kB has 31,000.
 */
const maxDepths = 100_000;
/** An article has at least this share of the sentences of its page: with less, the page is a list, a thread or a form. */
const minArticleShare = 0.25;
/** Share of a part's text in links from which on Readability is right to leave it out. */
const maxLinkShare = 0.5;

/**
 * The article on a page, as Readability of Firefox finds it among comments, teasers and advertisements. Its code, tables and
 * lists, of which Readability is not sure, are kept; captions, bylines and the like, which it keeps, are left out.
 *
 * @param content the page without navigation and hidden parts
 * @returns `undefined` when the page is short, very long, or not an article
 */
export function articleIn(content: HtmlElement, page: HtmlElement, note: NoteLeftOut): HtmlElement | undefined {
  if (content.size.text < minCharacters || !mayBeArticle(page, content)) return undefined;
  const { markup, nodes, depths } = numbered(content);
  if (depths > maxDepths) return undefined;
  const { Readability, JSDOMParser } = readability();
  const document = new JSDOMParser().parse(`<html><head></head><body>${markup}</body></html>`, "http://page/");
  const options = { disableJSONLD: true, keepClasses: true, serializer: (article: DomElement) => article };
  const found = new Readability(document, options).parse()?.content;
  if (!found) return undefined;
  const kept = new Set(numbersIn(found).map((number) => nodes[number]!));
  const { unlikelyCandidates, negative } = Readability.prototype.REGEXPS;
  const article = partOf(content, {
    kept,
    title: find(content, ({ name }) => name === "h1")[0],
    isUnlikely: (names) => unlikelyCandidates.test(names) || negative.test(names),
  });
  if (proseIn(article) < minArticleShare * proseIn(content)) return undefined;
  return withoutSiteParts(article, pageTitle(page), note);
}

/** Characters outside of links. */
function proseIn({ size: { text, inLinks } }: HtmlElement): number {
  return text - inLinks;
}

/** The part of Readability's own DOM that is used here. */
interface DomElement {
  readonly attributes: readonly { readonly name: string }[];
  readonly children: readonly DomElement[];
}

interface ReadabilityModules {
  readonly Readability: {
    new (
      document: object,
      options: { disableJSONLD: boolean; keepClasses: boolean; serializer: (article: DomElement) => DomElement },
    ): { parse(): { content: DomElement } | null };
    readonly prototype: { readonly REGEXPS: { readonly unlikelyCandidates: RegExp; readonly negative: RegExp } };
  };
  readonly JSDOMParser: new () => { parse(markup: string, url: string): object };
}

/** Attributes that Readability judges an element by. */
const judged = ["class", "id", "role", "rel", "itemprop", "href", "src", "alt", "dir", "width", "height"];
const maxAttributeCharacters = 300;

/**
 * The content as markup, in which each node has an attribute named by its number. Readability moves elements, and copies the
 * attributes of one to another when it unites the two, so that no number is lost. It replaces divisions by paragraphs of
 * its own, though, and therefore a text right in one has a number, too.
 */
function numbered(content: HtmlElement): { markup: string; nodes: HtmlNode[]; depths: number } {
  const nodes: HtmlNode[] = [];
  const parts: string[] = [];
  let depths = 0;
  const write = (node: HtmlNode, parent: string, depth: number) => {
    depths += depth;
    if (depths > maxDepths) return;
    if (isText(node) && parent !== "div") {
      parts.push(escapeMarkup(node.text));
      return;
    }
    const number = nodes.push(node) - 1;
    if (isText(node)) {
      parts.push(node.text.trim() === "" ? " " : `<span n${number}="">${escapeMarkup(node.text)}</span>`);
      return;
    }
    const attributes = judged.flatMap((name) => {
      const value = node.attributes[name];
      return value === undefined ? [] : [` ${name}="${escapeMarkup(value.slice(0, maxAttributeCharacters))}"`];
    });
    // The content's own element may be the page's body, which there is already.
    const name = node === content ? "div" : node.name.replace(/[^\w-]/g, "-");
    parts.push(`<${name} n${number}=""${attributes.join("")}>`);
    for (const child of node.children) write(child, name, depth + 1);
    parts.push(`</${name}>`);
  };
  write(content, "body", 1);
  return { markup: parts.join(""), nodes, depths };
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function numbersIn({ attributes, children }: DomElement): number[] {
  const own = attributes.flatMap(({ name }) => (/^n\d+$/.test(name) ? [Number(name.slice(1))] : []));
  return [...own, ...children.flatMap(numbersIn)];
}

interface Choice {
  readonly kept: ReadonlySet<HtmlNode>;
  readonly title: HtmlElement | undefined;
  /** Whether Readability takes an element with this class and id for none of the article. */
  readonly isUnlikely: (names: string) => boolean;
}

/** The kept elements with those that hold them and, of the others, the title and what is content for certain. */
function partOf(element: HtmlElement, choice: Choice): HtmlElement {
  const { kept, title } = choice;
  const isKept = kept.has(element);
  return withReplaced(element, (child) => {
    if (isText(child)) return isKept || kept.has(child) ? child : [];
    if (child === title || (isKept && !kept.has(child) && isCertain(child, choice))) return child;
    const part = partOf(child, choice);
    return kept.has(child) || part.children.length > 0 ? part : [];
  });
}

/** Elements that are content wherever they stand in an article, unless they are mostly links. */
const certain: ReadonlySet<string> = new Set("blockquote dl h1 h2 h3 h4 h5 h6 math ol p pre table ul".split(" "));

/** Whether a part of the article that Readability left out is content, and not a box of links or a form in its midst. */
function isCertain(element: HtmlElement, { isUnlikely }: Choice): boolean {
  const { name, attributes } = element;
  if (isUnlikely(`${attributes["class"] ?? ""} ${attributes["id"] ?? ""}`)) return false;
  const { text, inLinks } = element.size;
  if (inLinks >= maxLinkShare * text) return false;
  return certain.has(name) || find(element, ({ name: inner }) => certain.has(inner) && inner !== "p").length > 0;
}

/** Loaded by the first page that is long enough to have an article. */
function readability(): ReadabilityModules {
  const require = createRequire(import.meta.url);
  return {
    ...(require("@mozilla/readability") as Pick<ReadabilityModules, "Readability">),
    JSDOMParser: require("@mozilla/readability/JSDOMParser.js") as ReadabilityModules["JSDOMParser"],
  };
}
