import { createRequire } from "node:module";
import type { ParserOptions } from "htmlparser2";

export interface HtmlText {
  readonly text: string;
  /** 1-based line of the file on which it starts. */
  readonly line: number;
}

export interface HtmlElement {
  /** In lower case; in XML as it is written. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly HtmlNode[];
  readonly line: number;
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
  interface Building extends HtmlElement {
    readonly children: HtmlNode[];
  }
  const root: Building = { name: "#document", attributes: {}, children: [], line: 1 };
  const open: Building[] = [root];
  const lineAt = lineCounter(source);
  let tooDeep = 0;
  const { Parser } = htmlparser();
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element: Building = { name, attributes, children: [], line: lineAt(parser.startIndex) };
        open.at(-1)!.children.push(element);
        if (open.length < maxDepth) open.push(element);
        else if (++tooDeep > maxOpen) throw new RangeError(`elements are nested more than ${maxOpen} deep`);
      },
      ontext(text) {
        open.at(-1)!.children.push({ text, line: lineAt(parser.startIndex) });
      },
      onclosetag() {
        if (tooDeep > 0) tooDeep--;
        else if (open.length > 1) open.pop();
      },
    },
    options,
  );
  parser.end(source);
  return root;
}

/** An element of a tree that is made from another format. */
export function elementNode(
  name: string,
  children: readonly HtmlNode[],
  attributes: HtmlElement["attributes"] = {},
  line = 1,
): HtmlElement {
  return { name, attributes, children, line };
}

/** A text of such a tree. */
export function textNode(content: string, line = 1): HtmlText {
  return { text: content, line };
}

export function isText(node: HtmlNode): node is HtmlText {
  return "text" in node;
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
  return isText(node) ? node.text : node.children.map(textOf).join("");
}

/** All text inside in one line, each run of white space as one space. */
export function lineOf(node: HtmlNode | undefined): string {
  return node ? textOf(node).replace(/\s+/gu, " ").trim() : "";
}

/** The title of a page, in one line, or `""`. That of a drawing is not the page's. */
export function pageTitle(page: HtmlElement): string {
  return lineOf(named(page, "title", "svg").find(({ name }) => name === "title"));
}

/** Counts the line of an offset. Offsets come in order, so the count goes on from the last. */
function lineCounter(source: string): (offset: number) => number {
  let position = 0;
  let line = 1;
  return (offset) => {
    for (; position < offset; position++) {
      const unit = source.charCodeAt(position);
      if (unit === 10 || (unit === 13 && source.charCodeAt(position + 1) !== 10)) line++;
    }
    return line;
  };
}

/** Loaded by the first page that is read: most processes read none. */
function htmlparser(): typeof import("htmlparser2") {
  return createRequire(import.meta.url)("htmlparser2") as typeof import("htmlparser2");
}
