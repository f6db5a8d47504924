import { markdownOfNodes } from "../html/html.js";
import { elementsOf, isText, type HtmlElement, type HtmlNode } from "../html/tree.js";
import type { Loader } from "../loader.js";
import { openDocument, countOf, type OpenDocument } from "./open-document.js";

/**
 * Reads a text in OpenDocument, as LibreOffice writes it, as Markdown: headings, lists, tables and notes. Page headers,
 * pictures, comments and deletions are left out. It has no anchors: the program that shows the file decides where a page
 * ends.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadOdt: Loader = (file) => {
  const opened = openDocument(file, "text");
  return { ...markdownOfNodes(htmlBlocksOf(opened.body.children, opened)), ...opened.properties };
};

/** Elements outside the text: deletions, comments, generated indexes, readings. */
const skipped: ReadonlySet<string> = new Set(
  "text:tracked-changes office:annotation office:binary-data text:table-of-content text:illustration-index text:table-index text:object-index text:alphabetical-index text:bibliography text:user-index text:note-citation text:ruby-text draw:object draw:object-ole office:forms presentation:notes svg:title svg:desc".split(
    " ",
  ),
);

/** Spaces that one element may stand for. */
const maxSpaces = 200;
/** Columns and rows that one entry may stand for: programs fill up the edges of a table with repeated ones. */
const maxRepeated = 200;

/**
 * Turns the blocks of an OpenDocument into the elements that HTML has for them, so that they become the same Markdown. Notes
 * follow at the end, by their number.
 */
export function htmlBlocksOf(nodes: readonly HtmlNode[], { styles }: Pick<OpenDocument, "styles">): HtmlNode[] {
  const blocks = new Blocks(styles);
  return [...blocks.all(nodes), ...blocks.notes];
}

class Blocks {
  readonly #styles: ReadonlyMap<string, HtmlElement>;
  readonly notes: HtmlElement[] = [];

  constructor(styles: readonly HtmlElement[]) {
    this.#styles = new Map(styles.map((style) => [style.attributes["style:name"] ?? "", style]));
  }

  all(nodes: readonly HtmlNode[]): HtmlNode[] {
    const blocks: HtmlNode[] = [];
    let code: HtmlNode[] = [];
    const endCode = () => {
      if (code.length > 0) blocks.push(element("pre", code));
      code = [];
    };
    for (const node of nodes) {
      if (isText(node)) {
        blocks.push(node);
        continue;
      }
      if (node.name === "text:p" && this.#isNamed(node, /^Preformatted/)) {
        for (const part of this.#inline(node.children)) code.push(part);
        code.push(text("\n"));
        continue;
      }
      endCode();
      for (const block of this.#block(node)) blocks.push(block);
    }
    endCode();
    return blocks;
  }

  #block(node: HtmlElement): HtmlNode[] {
    const { name, attributes, children } = node;
    if (skipped.has(name)) return [];
    switch (name) {
      case "text:h":
        return [element(`h${Math.min(6, countOf(attributes["text:outline-level"]))}`, this.#inline(children))];
      case "text:p":
        return [element(this.#isNamed(node, /^Title$/) ? "h1" : "p", this.#inline(children))];
      case "text:list":
        return this.#list(node, 1, attributes["text:style-name"]);
      case "table:table":
        return [this.#table(node)];
      case "text:note":
        return this.#note(node);
      case "text:s":
        return [text(" ".repeat(Math.min(maxSpaces, countOf(attributes["text:c"]))))];
      case "text:tab":
        return [text("\t")];
      case "text:line-break":
        return [element("br", [])];
      case "text:span":
      case "text:a":
      case "text:ruby":
        return [element("span", this.#inline(children))];
      case "draw:text-box":
        return [element("div", this.all(children))];
      default:
        return this.all(children);
    }
  }

  #inline(children: readonly HtmlNode[]): HtmlNode[] {
    return children.flatMap((child) => (isText(child) ? [child] : this.#block(child)));
  }

  #list(list: HtmlElement, level: number, style: string | undefined): HtmlElement[] {
    // Headings that are numbered by a list are headings all the same.
    if (elementsOf(list).some((item) => elementsOf(item).some(({ name }) => name === "text:h"))) {
      return elementsOf(list).map((item) => element("div", this.all(item.children)));
    }
    const blocksIn = (child: HtmlElement) => {
      if (child.name !== "text:list") return this.#block(child);
      return this.#list(child, level + 1, child.attributes["text:style-name"] ?? style);
    };
    const items = elementsOf(list).map((item) => element("li", elementsOf(item).flatMap(blocksIn)));
    return [element(this.#isNumbered(style, level) ? "ol" : "ul", items)];
  }

  #isNumbered(style: string | undefined, level: number): boolean {
    const levels = elementsOf(this.#styles.get(style ?? ""));
    const found = levels.find(({ attributes }) => attributes["text:level"] === String(level));
    // A number without a format is not shown.
    return found?.name === "text:list-level-style-number" && found.attributes["style:num-format"] !== "";
  }

  #table(table: HtmlElement): HtmlElement {
    const cellsOf = ({ name, attributes, children }: HtmlElement) => {
      if (name !== "table:table-cell") return [];
      const colspan = attributes["table:number-columns-spanned"] ?? "1";
      const rowspan = attributes["table:number-rows-spanned"] ?? "1";
      const cell = element("td", this.all(children), { colspan, rowspan });
      return repeated(cell, attributes["table:number-columns-repeated"]);
    };
    const rows = rowsOf(table).map((row) => element("tr", elementsOf(row).flatMap(cellsOf)));
    return element("table", rows);
  }

  #note(note: HtmlElement): HtmlNode[] {
    const mark = `[${this.notes.length + 1}]`;
    const place = this.notes.length;
    this.notes.push(element("p", []));
    const bodies = elementsOf(note).filter(({ name }) => name === "text:note-body");
    const body = bodies.flatMap(({ children }) => this.#inline(children));
    this.notes[place] = element("div", [text(`${mark} `), ...body.flatMap(unwrapped)]);
    return [text(mark)];
  }

  /** Whether a paragraph's style, or one that it is made from, has such a name. */
  #isNamed({ attributes }: HtmlElement, pattern: RegExp): boolean {
    let name = attributes["text:style-name"];
    for (let steps = 0; name !== undefined && steps < 10; steps++) {
      if (pattern.test(name)) return true;
      name = this.#styles.get(name)?.attributes["style:parent-style-name"];
    }
    return false;
  }
}

/** A table's rows, also those in groups and headers, repeated ones as often as they stand there. */
function rowsOf(table: HtmlElement): HtmlElement[] {
  return elementsOf(table).flatMap((child) => {
    if (child.name === "table:table-row") return repeated(child, child.attributes["table:number-rows-repeated"]);
    return /^table:table-(?:header-rows|rows|row-group)$/.test(child.name) ? rowsOf(child) : [];
  });
}

/** A paragraph's content: the text of a note starts in the line of its mark. */
function unwrapped(node: HtmlNode): readonly HtmlNode[] {
  return !isText(node) && node.name === "p" ? [...node.children, text(" ")] : [node];
}

function repeated(one: HtmlElement, count: string | undefined): HtmlElement[] {
  return Array.from({ length: Math.min(maxRepeated, countOf(count)) }, () => one);
}

function element(
  name: string,
  children: readonly HtmlNode[],
  attributes: Readonly<Record<string, string>> = {},
): HtmlElement {
  return { name, attributes, children, line: 1 };
}

function text(content: string): HtmlNode {
  return { text: content, line: 1 };
}
