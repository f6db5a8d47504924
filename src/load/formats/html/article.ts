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
  const { Readability, JSDOMParser } = readability();
  const document = new JSDOMParser().parse("<html><head></head><body></body></html>", "http://page/");
  const nodes = writeNumbered(content, document);
  if (!nodes) return undefined;
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
  appendChild(child: object): void;
  setAttribute(name: string, value: string): void;
}

interface DomDocument {
  readonly body: DomElement;
  createElement(name: string): DomElement;
  createTextNode(text: string): object;
}

interface ReadabilityModules {
  readonly Readability: {
    new (
      document: DomDocument,
      options: { disableJSONLD: boolean; keepClasses: boolean; serializer: (article: DomElement) => DomElement },
    ): { parse(): { content: DomElement } | null };
    readonly prototype: { readonly REGEXPS: { readonly unlikelyCandidates: RegExp; readonly negative: RegExp } };
  };
  readonly JSDOMParser: new () => { parse(markup: string, url: string): DomDocument };
}

/** Attributes that Readability judges an element by. */
const judged = ["class", "id", "role", "rel", "itemprop", "href", "src", "alt", "dir", "width", "height"];
const maxAttributeCharacters = 300;

/**
 * Writes the content into the document, each element with an attribute named by its number. Readability moves elements, and
 * copies the attributes of one to another when it unites the two, so that no number is lost. It replaces divisions by paragraphs
 * of its own, though, and therefore a text right in one has a number, too.
 *
 * @returns the nodes by their numbers; `undefined` when they are too deep
 */
function writeNumbered(content: HtmlElement, document: DomDocument): HtmlNode[] | undefined {
  const nodes: HtmlNode[] = [];
  let depths = 1;
  const numbered = (name: string, node: HtmlNode) => {
    const element = document.createElement(name);
    element.setAttribute(`n${nodes.push(node) - 1}`, "");
    return element;
  };
  const write = (element: HtmlElement, name: string, parent: DomElement, depth: number) => {
    const written = numbered(name, element);
    for (const attribute of judged) {
      const value = element.attributes[attribute];
      if (value !== undefined) written.setAttribute(attribute, value.slice(0, maxAttributeCharacters));
    }
    // Texts beside each other are one, as on a page that is parsed.
    let text = "";
    const endText = () => {
      if (text !== "") written.appendChild(document.createTextNode(text));
      text = "";
    };
    for (const child of element.children) {
      depths += depth + 1;
      if (depths > maxDepths) return;
      if (isText(child) && name !== "div") text += child.text;
      else if (isText(child) && child.text.trim() === "") text += " ";
      else {
        endText();
        if (isText(child)) {
          const span = numbered("span", child);
          span.appendChild(document.createTextNode(child.text));
          written.appendChild(span);
        } else write(child, child.name.replace(/[^\w-]/g, "-"), written, depth + 1);
      }
    }
    endText();
    parent.appendChild(written);
  };
  // The content's own element may be the page's body, which there is already.
  write(content, "div", document.body, 1);
  return depths > maxDepths ? undefined : nodes;
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
