import { isText, type HtmlElement, type HtmlNode } from "../html-tree.js";
import type { OpenDocument } from "./open-document.js";

/** Not the document's own words: what was deleted, remarks at its margin, lists that are made of its headings, how to say it. */
const leftOut: ReadonlySet<string> = new Set([
  "text:tracked-changes",
  "office:annotation",
  "text:table-of-content",
  "text:illustration-index",
  "text:table-index",
  "text:object-index",
  "text:alphabetical-index",
  "text:bibliography",
  "text:user-index",
  "text:note-citation",
  "text:ruby-text",
  "draw:object",
  "draw:object-ole",
  "office:forms",
  "presentation:notes",
  "svg:title",
  "svg:desc",
]);

/** More white space in one place is no text. */
const mostSpaces = 200;
/** Columns and rows that one entry may stand for. */
const mostRepeated = 200;

/**
 * The blocks of an OpenDocument as the elements that HTML has for them, so that they become the same Markdown. Notes follow
 * behind everything, by their number.
 */
export function htmlBlocksOf(nodes: readonly HtmlNode[], { styles }: Pick<OpenDocument, "styles">): HtmlNode[] {
  const named = new Map(styles.map((style) => [style.attributes["style:name"] ?? "", style]));
  return new Blocks(named).withNotes(nodes);
}

class Blocks {
  readonly #styles: ReadonlyMap<string, HtmlElement>;
  readonly #notes: HtmlElement[] = [];

  constructor(styles: ReadonlyMap<string, HtmlElement>) {
    this.#styles = styles;
  }

  withNotes(nodes: readonly HtmlNode[]): HtmlNode[] {
    const blocks = this.#all(nodes);
    return [...blocks, ...this.#notes];
  }

  #all(nodes: readonly HtmlNode[]): HtmlNode[] {
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
    if (leftOut.has(name)) return [];
    switch (name) {
      case "text:h":
        return [element(`h${headingLevel(attributes["text:outline-level"])}`, this.#inline(children))];
      case "text:p":
        return [element(this.#isNamed(node, /^Title$/) ? "h1" : "p", this.#inline(children))];
      case "text:list":
        return this.#list(node, 1, attributes["text:style-name"]);
      case "table:table":
        return [this.#table(node)];
      case "text:note":
        return this.#note(node);
      case "text:s":
        return [text(" ".repeat(Math.min(mostSpaces, countOf(attributes["text:c"]))))];
      case "text:tab":
        return [text("\t")];
      case "text:line-break":
        return [element("br", [])];
      // Stand in a line, and are to stay there.
      case "text:span":
      case "text:a":
      case "text:ruby":
        return [element("span", this.#inline(children))];
      case "draw:text-box":
        return [element("div", this.#all(children))];
      default:
        return this.#all(children);
    }
  }

  #inline(children: readonly HtmlNode[]): HtmlNode[] {
    return children.flatMap((child) => (isText(child) ? [child] : this.#block(child)));
  }

  #list(list: HtmlElement, level: number, style: string | undefined): HtmlElement[] {
    // Headings that are numbered by a list are headings all the same.
    if (elementsOf(list).some((item) => elementsOf(item).some(({ name }) => name === "text:h"))) {
      return elementsOf(list).map((item) => element("div", this.#all(item.children)));
    }
    const items = elementsOf(list).map((item) =>
      element(
        "li",
        elementsOf(item).flatMap((child) =>
          child.name === "text:list"
            ? this.#list(child, level + 1, child.attributes["text:style-name"] ?? style)
            : this.#block(child),
        ),
      ),
    );
    return [element(this.#isNumbered(style, level) ? "ol" : "ul", items)];
  }

  #isNumbered(style: string | undefined, level: number): boolean {
    const levels = elementsOf(this.#styles.get(style ?? ""));
    const found = levels.find(({ attributes }) => attributes["text:level"] === String(level));
    // A number without a format is shown as nothing.
    return found?.name === "text:list-level-style-number" && found.attributes["style:num-format"] !== "";
  }

  #table(table: HtmlElement): HtmlElement {
    const rows = rowsOf(table).map((row) =>
      element(
        "tr",
        elementsOf(row)
          .filter(({ name }) => name === "table:table-cell")
          .flatMap((cell) => {
            const { attributes } = cell;
            const spans = {
              colspan: attributes["table:number-columns-spanned"] ?? "1",
              rowspan: attributes["table:number-rows-spanned"] ?? "1",
            };
            const one = element("td", this.#all(cell.children), spans);
            return Array.from({ length: repeats(attributes["table:number-columns-repeated"]) }, () => one);
          }),
      ),
    );
    return element("table", rows);
  }

  #note({ children }: HtmlElement): HtmlNode[] {
    const parts = children.filter((child) => !isText(child)) as HtmlElement[];
    const mark = `[${this.#notes.length + 1}]`;
    const place = this.#notes.length;
    this.#notes.push(element("p", []));
    const body = parts.filter(({ name }) => name === "text:note-body").flatMap((each) => this.#inline(each.children));
    this.#notes[place] = element("div", [text(`${mark} `), ...body.flatMap(unwrapped)]);
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

/** A table's rows, also those in groups and headers, each as often as it stands there. */
function rowsOf(table: HtmlElement): HtmlElement[] {
  return elementsOf(table).flatMap((child) => {
    if (child.name === "table:table-row") {
      return Array.from({ length: repeats(child.attributes["table:number-rows-repeated"]) }, () => child);
    }
    return /^table:table-(?:header-rows|rows|row-group)$/.test(child.name) ? rowsOf(child) : [];
  });
}

/** A paragraph as what stands in it: behind a note's mark there is no new line. */
function unwrapped(node: HtmlNode): readonly HtmlNode[] {
  return !isText(node) && node.name === "p" ? [...node.children, text(" ")] : [node];
}

function headingLevel(outline: string | undefined): number {
  return Math.min(6, Math.max(1, Math.trunc(Number(outline ?? 1)) || 1));
}

function countOf(count: string | undefined): number {
  const value = Number.parseInt(count ?? "1", 10);
  return value >= 1 ? value : 1;
}

/** How often an entry stands there: programs fill up the edges of a table with one that is repeated. */
function repeats(count: string | undefined): number {
  return Math.min(mostRepeated, countOf(count));
}

function elementsOf(parent: HtmlElement | undefined): HtmlElement[] {
  return (parent?.children ?? []).filter((child): child is HtmlElement => !isText(child));
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
