import { markdownOfNodes } from "../html/html.js";
import { elementNode, elementsOf, isText, textNode, type HtmlElement, type HtmlNode } from "../element-tree.js";
import type { Loader } from "../loader.js";
import { ListCounter, type ListLevel } from "./list-numbers.js";
import { openDocument, countOf, type OpenDocument, picturesIn } from "./open-document.js";

/**
 * Reads a text in OpenDocument, as LibreOffice writes it, as Markdown: headings, lists, tables and notes. Page headers,
 * comments and deletions are left out. It has no anchors: the program that shows the file decides where a page
 * ends.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadOdt: Loader = (file) => {
  const opened = openDocument(file, "text");
  const read = markdownOfNodes(htmlBlocksOf(opened.body.children, opened));
  // The conversion does not tell their places: they stand behind the text, in their order.
  const pictures = file.wantsPictures && { pictures: picturesIn(opened.body, opened, { offset: read.text.length }) };
  return { ...read, ...opened.properties, ...pictures };
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
  readonly #levels = new Map<string, readonly ListLevel[]>();
  /** Counters of the last list of each style and of each list with an id, since a later list may continue them. */
  readonly #counters = new Map<string, ListCounter>();
  readonly notes: HtmlElement[] = [];

  constructor(styles: readonly HtmlElement[]) {
    this.#styles = new Map(
      styles.map((style) => [
        style.name === outlineStyle ? outlineStyle : (style.attributes["style:name"] ?? ""),
        style,
      ]),
    );
  }

  all(nodes: readonly HtmlNode[]): HtmlNode[] {
    const blocks: HtmlNode[] = [];
    let code: HtmlNode[] = [];
    const endCode = () => {
      if (code.length > 0) blocks.push(elementNode("pre", code));
      code = [];
    };
    for (const node of nodes) {
      if (isText(node)) {
        blocks.push(node);
        continue;
      }
      if (node.name === "text:p" && this.#isNamed(node, /^Preformatted/)) {
        for (const part of this.#inline(node.children)) code.push(part);
        code.push(textNode("\n"));
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
        return [this.#heading(node, this.#outlineNumber(node))];
      case "text:p":
        return [elementNode(this.#isNamed(node, /^Title$/) ? "h1" : "p", this.#inline(children))];
      case "text:list":
        return this.#rootList(node);
      case "table:table":
        return [this.#table(node)];
      case "text:note":
        return this.#note(node);
      case "text:s":
        return [textNode(" ".repeat(Math.min(maxSpaces, countOf(attributes["text:c"]))))];
      case "text:tab":
        return [textNode("\t")];
      case "text:line-break":
        return [elementNode("br", [])];
      case "text:span":
      case "text:a":
      case "text:ruby":
        return [elementNode("span", this.#inline(children))];
      case "draw:text-box":
        return [elementNode("div", this.all(children))];
      default:
        return this.all(children);
    }
  }

  #inline(children: readonly HtmlNode[]): HtmlNode[] {
    return children.flatMap((child) => (isText(child) ? [child] : this.#block(child)));
  }

  #heading({ attributes, children }: HtmlElement, number: string): HtmlElement {
    const words = number === "" ? this.#inline(children) : [textNode(`${number} `), ...this.#inline(children)];
    return elementNode(`h${Math.min(6, countOf(attributes["text:outline-level"]))}`, words);
  }

  /** The number of a heading that stands in no list: all of these are counted together. */
  #outlineNumber({ attributes }: HtmlElement): string {
    if (attributes["text:is-list-header"] === "true") return "";
    const start = attributes["text:restart-numbering"] === "true" ? startOf(attributes, 1) : undefined;
    const level = countOf(attributes["text:outline-level"]) - 1;
    return this.#counterOf(outlineStyle).next(this.#levelsOf(outlineStyle), level, start);
  }

  #counterOf(key: string): ListCounter {
    const counter = this.#counters.get(key) ?? new ListCounter();
    this.#counters.set(key, counter);
    return counter;
  }

  #rootList(list: HtmlElement): HtmlElement[] {
    const { "text:style-name": style = "", "xml:id": id, "text:continue-list": before } = list.attributes;
    const continued = before ?? (list.attributes["text:continue-numbering"] === "true" ? style : undefined);
    const counter = continued === undefined ? new ListCounter() : this.#counterOf(continued);
    this.#counters.set(style, counter);
    if (id !== undefined) this.#counters.set(id, counter);
    return this.#list(list, 0, style, counter);
  }

  #list(list: HtmlElement, level: number, style: string, counter: ListCounter): HtmlElement[] {
    const levels = this.#levelsOf(style);
    let isOutline = false;
    const items = elementsOf(list).map((item) => {
      const [first] = elementsOf(item).filter(({ name }) => name === "text:p" || name === "text:h");
      const isNumbered = first !== undefined && item.name === "text:list-item";
      const number = isNumbered ? counter.next(levels, level, startOf(item.attributes)) : " ";
      isOutline ||= first?.name === "text:h";
      const blocks = elementsOf(item).flatMap((child): HtmlNode[] => {
        if (child.name === "text:list") {
          return this.#list(child, level + 1, child.attributes["text:style-name"] ?? style, counter);
        }
        return child.name === "text:h"
          ? [this.#heading(child, child === first ? number.trim() : "")]
          : this.#block(child);
      });
      const isBullet = isNumbered && (levels[level]?.format ?? "bullet") === "bullet";
      return elementNode("li", blocks, isBullet ? {} : { "data-number-shown": number });
    });
    // Headings that are numbered by a list are headings all the same.
    return isOutline ? items.map(({ children }) => elementNode("div", children)) : [elementNode("ul", items)];
  }

  #levelsOf(style: string): readonly ListLevel[] {
    const known = this.#levels.get(style);
    if (known) return known;
    const elements: HtmlElement[] = [];
    for (const child of elementsOf(this.#styles.get(style))) {
      elements[Math.min(maxLevels, countOf(child.attributes["text:level"])) - 1] = child;
    }
    const levels = elements.map((element, index) => listLevel(element, elements.slice(0, index)));
    this.#levels.set(style, levels);
    return levels;
  }

  #table(table: HtmlElement): HtmlElement {
    const cellsOf = ({ name, attributes, children }: HtmlElement) => {
      if (name !== "table:table-cell") return [];
      const colspan = attributes["table:number-columns-spanned"] ?? "1";
      const rowspan = attributes["table:number-rows-spanned"] ?? "1";
      const cell = elementNode("td", this.all(children), { colspan, rowspan });
      return repeated(cell, attributes["table:number-columns-repeated"]);
    };
    const rows = rowsOf(table).map((row) => elementNode("tr", elementsOf(row).flatMap(cellsOf)));
    return elementNode("table", rows);
  }

  #note(note: HtmlElement): HtmlNode[] {
    const mark = `[${this.notes.length + 1}]`;
    const place = this.notes.length;
    this.notes.push(elementNode("p", []));
    const bodies = elementsOf(note).filter(({ name }) => name === "text:note-body");
    const body = bodies.flatMap(({ children }) => this.#inline(children));
    this.notes[place] = elementNode("div", [textNode(`${mark} `), ...body.flatMap(unwrapped)]);
    return [textNode(mark)];
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

/** Levels of a list, by the standard. */
const maxLevels = 10;

function startOf({ "text:start-value": value }: HtmlElement["attributes"], otherwise?: number): number | undefined {
  return value === undefined ? otherwise : Number(value);
}

/** The name of the element that says how headings are numbered, which has no name of its own. */
const outlineStyle = "text:outline-style";

const formats = new Map([
  ["1", "decimal"],
  ["a", "lowerLetter"],
  ["A", "upperLetter"],
  ["i", "lowerRoman"],
  ["I", "upperRoman"],
  ["01", "decimalZero"],
  ["①", "decimalEnclosedCircle"],
  ["一", "chineseCounting"],
  ["", "none"],
]);

function listLevel({ name, attributes }: HtmlElement, above: readonly HtmlElement[]): ListLevel {
  const format = formatOf(attributes);
  const start = startOf(attributes, 1)!;
  // A number without a format is not shown.
  if (/-(?:bullet|image)$/.test(name)) return { format: "bullet", start, text: "" };
  if (format === "none") return { format, start, text: "" };
  const first = above.length + 1 - countOf(attributes["text:display-levels"]);
  const numbers = above.flatMap((level, index) =>
    index >= first && formatOf(level.attributes) !== "none" ? [`%${index + 1}`] : [],
  );
  const { "style:num-prefix": prefix = "", "style:num-suffix": suffix = "" } = attributes;
  const pattern = attributes["loext:num-list-format"]?.replace(/%(\d+)%/g, "%$1");
  return { format, start, text: pattern ?? prefix + [...numbers, `%${above.length + 1}`].join(".") + suffix };
}

function formatOf({ "style:num-format": own = "" }: HtmlElement["attributes"]): string {
  // Formats of other scripts are named by their first numbers.
  return formats.get(own) ?? formats.get(own.split(",")[0]!) ?? "decimal";
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
  return !isText(node) && node.name === "p" ? [...node.children, textNode(" ")] : [node];
}

function repeated(one: HtmlElement, count: string | undefined): HtmlElement[] {
  return Array.from({ length: Math.min(maxRepeated, countOf(count)) }, () => one);
}
