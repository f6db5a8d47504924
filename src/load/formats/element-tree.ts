import { createRequire } from "node:module";
import type { ParserOptions } from "htmlparser2";

export interface HtmlText {
  readonly text: string;
  /** 1-based line of the file on which it starts. */
  readonly line: number;
}

/** Never changes, so that trees share the parts in which they are alike, and each is measured once. */
export class HtmlElement {
  /** In lower case; in XML as it is written. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly HtmlNode[];
  readonly line: number;
  #size: Size | undefined;

  constructor(name: string, attributes: HtmlElement["attributes"], children: readonly HtmlNode[], line: number) {
    this.name = name;
    this.attributes = attributes;
    this.children = children;
    this.line = line;
  }

  /** Counted when it is first asked for, from the sizes of the children. */
  get size(): Size {
    return (this.#size ??= measured(this));
  }
}

/** Characters of the texts in an element, and how many of them are in links. White space around a text does not count. */
export interface Size {
  readonly text: number;
  /** In links inside the element; in one that is a link, all of them. */
  readonly inLinks: number;
}

export type HtmlNode = HtmlText | HtmlElement;

/** Deeper elements become siblings, as in browsers, so that no walk through the tree runs out of stack. */
const maxDepth = 400;
/** The parser's own work grows with the depth, so it is limited as well. */
const maxOpen = 20_000;

/** The start of pages that are XML, such as the chapters of books. */
const xmlStart = /^\s*(?:<\?xml\b|(?:<!doctype[^>]*>\s*)?<html[^>]*\sxmlns\s*=)/i;

/**
 * Parses a page into a tree. Any input is a page: open elements are closed where browsers would close them, and entities
 * are decoded. In a page that is XML, `<title/>` and `<script/>` are closed, too.
 *
 * @throws RangeError when more than 20,000 elements stand inside one another
 */
export function parseHtml(source: string): HtmlElement {
  const isXml = xmlStart.test(source.slice(0, 1000));
  return parseMarkup(source, {
    decodeEntities: true,
    lowerCaseTags: true,
    recognizeSelfClosing: isXml,
    recognizeCDATA: isXml,
  });
}

/**
 * Parses an XML document into a tree of the same kind. Names keep their case and their prefix.
 *
 * @throws RangeError when more than 20,000 elements stand inside one another
 */
export function parseXml(source: string): HtmlElement {
  return parseMarkup(source, { decodeEntities: true, xmlMode: true });
}

function parseMarkup(source: string, options: ParserOptions): HtmlElement {
  const root: HtmlNode[] = [];
  const open = [root];
  let children = root;
  const lineAt = lineCounter(source);
  let tooDeep = 0;
  const { Parser } = htmlparser();
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const inside: HtmlNode[] = [];
        children.push(new HtmlElement(name, attributes, inside, lineAt(parser.startIndex)));
        if (open.length < maxDepth) open.push((children = inside));
        else if (++tooDeep > maxOpen) throw new RangeError(`elements are nested more than ${maxOpen} deep`);
      },
      ontext(text) {
        children.push({ text, line: lineAt(parser.startIndex) });
      },
      onclosetag() {
        if (tooDeep > 0) tooDeep--;
        else if (open.length > 1) {
          open.pop();
          children = open.at(-1)!;
        }
      },
    },
    options,
  );
  parser.end(source);
  return elementNode("#document", root);
}

/** An element of a tree that is made from another format. */
export function elementNode(
  name: string,
  children: readonly HtmlNode[],
  attributes: HtmlElement["attributes"] = {},
  line = 1,
): HtmlElement {
  return new HtmlElement(name, attributes, children, line);
}

/** The same element with another name, other children or another line. */
export function elementWith(
  element: HtmlElement,
  { name = element.name, children = element.children, line = element.line }: Partial<Omit<HtmlElement, "attributes">>,
): HtmlElement {
  return new HtmlElement(name, element.attributes, children, line);
}

/** The element with other nodes for each child, none where it is left out; itself where `replace` gives all children back. */
export function withReplaced(
  element: HtmlElement,
  replace: (child: HtmlNode) => HtmlNode | readonly HtmlNode[],
): HtmlElement {
  const { children } = element;
  let replaced: HtmlNode[] | undefined;
  for (const [index, child] of children.entries()) {
    const others = replace(child);
    if (others === child && !replaced) continue;
    replaced ??= children.slice(0, index);
    if (isNode(others)) replaced.push(others);
    else for (const other of others) replaced.push(other);
  }
  return replaced ? elementWith(element, { children: replaced }) : element;
}

function isNode(nodes: HtmlNode | readonly HtmlNode[]): nodes is HtmlNode {
  return !Array.isArray(nodes);
}

/** A text of such a tree. */
export function textNode(content: string, line = 1): HtmlText {
  return { text: content, line };
}

export function isText(node: HtmlNode): node is HtmlText {
  return (node as HtmlText).text !== undefined;
}

/** Child elements, without the text between them. */
export function elementsOf(parent: HtmlElement | undefined): HtmlElement[] {
  return (parent?.children ?? []).filter((child): child is HtmlElement => !isText(child));
}

/** The outermost elements of each branch that match, in order. */
export function find(root: HtmlElement, matches: (element: HtmlElement) => boolean): HtmlElement[] {
  const found: HtmlElement[] = [];
  const visit = (element: HtmlElement) => {
    for (const child of element.children) {
      if (isText(child)) continue;
      if (matches(child)) found.push(child);
      else visit(child);
    }
  };
  visit(root);
  return found;
}

/** The outermost elements with one of these names, in order. */
export function named(root: HtmlElement | undefined, ...names: readonly string[]): HtmlElement[] {
  return root ? find(root, ({ name }) => names.includes(name)) : [];
}

/** All text inside, unchanged. */
export function textOf(node: HtmlNode): string {
  if (isText(node)) return node.text;
  let text = "";
  for (const child of node.children) text += textOf(child);
  return text;
}

/** All text inside in one line, each run of white space as one space. */
export function lineOf(node: HtmlNode | undefined): string {
  return node ? textOf(node).replace(/\s+/gu, " ").trim() : "";
}

/** The title of a page, in one line, or `""`. That of a drawing is not the page's. */
export function pageTitle(page: HtmlElement): string {
  return lineOf(named(page, "title", "svg").find(({ name }) => name === "title"));
}

function measured({ name, children }: HtmlElement): Size {
  let [text, inLinks] = [0, 0];
  for (const child of children) {
    if (isText(child)) text += child.text.trim().length;
    else {
      text += child.size.text;
      inLinks += child.size.inLinks;
    }
  }
  return { text, inLinks: name === "a" ? text : inLinks };
}

/** Counts the line of an offset. Offsets come in order, so the count goes on from the last. */
function lineCounter(source: string): (offset: number) => number {
  const hasReturns = source.includes("\r");
  let line = 1;
  let end = nextEnd(0);
  function nextEnd(from: number): number {
    if (!hasReturns) {
      const found = source.indexOf("\n", from);
      return found < 0 ? Infinity : found;
    }
    for (let position = from; position < source.length; position++) {
      const unit = source.charCodeAt(position);
      if (unit === 10 || (unit === 13 && source.charCodeAt(position + 1) !== 10)) return position;
    }
    return Infinity;
  }
  return (offset) => {
    while (end < offset) {
      line++;
      end = nextEnd(end + 1);
    }
    return line;
  };
}

/** Loaded by the first page that is read: most processes read none. */
function htmlparser(): typeof import("htmlparser2") {
  return createRequire(import.meta.url)("htmlparser2") as typeof import("htmlparser2");
}
