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

/** Deeper elements are put beside each other instead of inside: browsers do so too, and nothing that walks the tree runs out of stack. */
const deepest = 400;
/** The parser's own work grows with the depth, so there is an end to it. */
const mostOpen = 20_000;

/** How pages that are XML begin, among them the chapters of books. */
const xmlStart = /^\s*(?:<\?xml\b|(?:<!doctype[^>]*>\s*)?<html[^>]*\sxmlns\s*=)/i;

/**
 * A page as a tree. Any input is a page: what is not closed is closed where browsers would, and entities are decoded. In a
 * page that is XML, `<title/>` and `<script/>` are closed, too.
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
 * An XML document as a tree of the same kind. Names keep their case and their prefix.
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
        if (open.length < deepest) open.push(element);
        else if (++tooDeep > mostOpen) throw new RangeError(`elements are nested more than ${mostOpen} deep`);
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

export function isText(node: HtmlNode): node is HtmlText {
  return "text" in node;
}

/** The line of an offset. Offsets are mostly asked for in order, so the count goes on from the last. */
function lineCounter(source: string): (offset: number) => number {
  let at = 0;
  let line = 1;
  return (offset) => {
    for (; at < offset; at++) {
      const unit = source.charCodeAt(at);
      if (unit === 10 || (unit === 13 && source.charCodeAt(at + 1) !== 10)) line++;
    }
    return line;
  };
}

/** Loaded by the first page that is read: most processes read none. */
function htmlparser(): typeof import("htmlparser2") {
  return createRequire(import.meta.url)("htmlparser2") as typeof import("htmlparser2");
}
