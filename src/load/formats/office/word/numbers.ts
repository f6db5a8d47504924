import { named, type HtmlElement } from "../../element-tree.js";
import { ListCounter, type ListLevel } from "../list-numbers.js";
import type { Package } from "../package.js";

/** Characters around a number on its way through mammoth, which counts nothing: Unicode has none at these points. */
const [opening, closing] = ["\u{fdd0}", "\u{fdd1}"];

/** Styles and lists are made from others, but not in circles. */
const maxSteps = 20;

/** Writes the number of each numbered paragraph into its text, as Word shows it. */
export function withNumbers(content: string, parts: Package): string {
  const numbering = parts.xml("word/numbering.xml");
  if (!numbering) return content;
  const styles = byId(parts.xml("word/styles.xml"), "w:style", "w:styleId");
  const lists = new Lists(numbering, styles);
  let choices = 0;
  return content.replace(
    numberedParts,
    (start: string, choice: string | undefined, properties = "", offset: number) => {
      if (choice !== undefined) choices += choice === "/" ? -1 : 1;
      // A text box is there a second time for older programs, which is the one that mammoth reads.
      if (choice !== undefined || choices > 0) return start;
      const style = numberOfStyle(/<w:pStyle w:val="([^"]*)"/.exec(properties)?.[1], styles);
      const own = /<w:numPr>.*?<\/w:numPr>/s.exec(properties)?.[0] ?? "";
      const list = lists.find(/<w:numId w:val="(\d+)"/.exec(own)?.[1] ?? style.list);
      // The text of a deleted paragraph end belongs to the paragraph after it.
      if (!list || /<w:rPr>(?:(?!<\/w:rPr>).)*<w:del[\s/>]/s.test(properties)) return start;
      const level = /<w:ilvl w:val="(\d+)"/.exec(own)?.[1] ?? list.levelOfStyle(style.id) ?? style.level ?? "0";
      const number = list.next(Number(level));
      const end = content.indexOf("</w:p>", offset);
      const isFilled = /<w:t[\s>]/.test(content.slice(offset + start.length, end));
      if (number === undefined || !isFilled) return start;
      return start + plainRun(opening + number + closing);
    },
  );
}

/** The start of a paragraph with its properties, or an end of what newer programs choose. */
const numberedParts = /<(\/?)mc:Choice(?:\s[^>]*)?>|<w:p(?:\s[^>]*)?(?<!\/)>(?:\s*<w:pPr>(.*?)<\/w:pPr>)?/gs;

/** Takes the numbers out of the HTML that mammoth made: an item of a list has it as its mark, all else in its text. */
export function withMarks(html: string): string {
  return html
    .replace(new RegExp(`<li>${opening}([^${closing}]*)${closing}`, "gu"), (_, number: string) => {
      return `<li data-number-shown="${number.replaceAll('"', "&quot;")}">`;
    })
    .replace(new RegExp(`${opening}([^${closing}]*)${closing}`, "gu"), (_, number: string) => number && `${number} `);
}

/** A run of plain words. */
export function plainRun(text: string): string {
  const words = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`;
}

/** A paragraph style and the styles that it is based on. */
export function* lineage(id: string | undefined, styles: ElementsById): Generator<HtmlElement> {
  let style = styles.get(id ?? "");
  for (let steps = 0; style && steps < maxSteps; steps++) {
    yield style;
    style = styles.get(valueOf(style, "w:basedOn") ?? "");
  }
}

/** The list that a style, or one that it is made from, belongs to, its level there, and the id of the style that says so. */
function numberOfStyle(id: string | undefined, styles: ElementsById) {
  const numbered = [...lineage(id, styles)].filter((style) => named(style, "w:numPr").length > 0);
  const first = (name: string) => numbered.map((style) => valueOf(style, name)).find((value) => value !== undefined);
  return { id: numbered[0]?.attributes["w:styleId"], list: first("w:numId"), level: first("w:ilvl") };
}

interface NumberedList {
  /** The number of its next item, `undefined` where the level has bullets. */
  readonly next: (level: number) => string | undefined;
  readonly levelOfStyle: (style: string | undefined) => string | undefined;
}

class Lists {
  readonly #definitions: ElementsById;
  readonly #instances: ElementsById;
  readonly #styles: ElementsById;
  readonly #found = new Map<string, NumberedList | undefined>();
  /** Lists of one definition are counted together. */
  readonly #counters = new Map<HtmlElement, ListCounter>();

  constructor(numbering: HtmlElement, styles: ElementsById) {
    this.#definitions = byId(numbering, "w:abstractNum", "w:abstractNumId");
    this.#instances = byId(numbering, "w:num", "w:numId");
    this.#styles = styles;
  }

  /** The list with an id, which is `0` for paragraphs that are in none. */
  find(id: string | undefined): NumberedList | undefined {
    if (id === undefined) return undefined;
    if (!this.#found.has(id)) this.#found.set(id, this.#read(id));
    return this.#found.get(id);
  }

  #read(id: string): NumberedList | undefined {
    const instance = this.#instances.get(id);
    const definition = this.#definitionOf(instance);
    if (!instance || !definition) return undefined;
    const overrides = byId(instance, "w:lvlOverride", "w:ilvl");
    const elements = new Map([
      ...byId(definition, "w:lvl", "w:ilvl"),
      ...[...overrides.values()].flatMap((override) => [...byId(override, "w:lvl", "w:ilvl")]),
    ]);
    const restarts = new Map<number, number>();
    const levels: ListLevel[] = [];
    for (const [index, element] of elements) {
      const restart = valueOf(overrides.get(index), "w:startOverride");
      if (restart !== undefined) restarts.set(Number(index), Number(restart));
      levels[Number(index)] = levelOf(element, restart);
    }
    const counter = this.#counters.get(definition) ?? new ListCounter();
    this.#counters.set(definition, counter);
    return {
      next: (level) => {
        const start = restarts.get(level);
        restarts.delete(level);
        const number = counter.next(levels, level, start);
        return levels[level]?.format === "bullet" ? undefined : number;
      },
      levelOfStyle: (style) =>
        [...elements].find(([, element]) => style !== undefined && valueOf(element, "w:pStyle") === style)?.[0],
    };
  }

  #definitionOf(instance: HtmlElement | undefined): HtmlElement | undefined {
    let found = instance;
    for (let steps = 0; found && steps < maxSteps; steps++) {
      const definition = this.#definitions.get(valueOf(found, "w:abstractNumId") ?? "");
      const style = valueOf(definition, "w:numStyleLink");
      if (style === undefined) return definition;
      found = this.#instances.get(valueOf(this.#styles.get(style), "w:numId") ?? "");
    }
    return undefined;
  }
}

function levelOf(element: HtmlElement, restart: string | undefined): ListLevel {
  const format = valueOf(element, "w:numFmt") ?? "decimal";
  const restartsAfter = valueOf(element, "w:lvlRestart");
  return {
    format,
    start: Number(restart ?? valueOf(element, "w:start") ?? 0),
    text: format === "bullet" ? "" : (valueOf(element, "w:lvlText") ?? ""),
    isLegal: named(element, "w:isLgl").length > 0,
    ...(restartsAfter !== undefined && { restartsAfter: Number(restartsAfter) }),
  };
}

export type ElementsById = ReadonlyMap<string, HtmlElement>;

/** The elements of this name, by an attribute that names each. */
export function byId(root: HtmlElement | undefined, name: string, attribute: string): ElementsById {
  return new Map(named(root, name).map((element) => [element.attributes[attribute] ?? "", element]));
}

/** The value of the first element of this name inside another. */
export function valueOf(element: HtmlElement | undefined, name: string): string | undefined {
  return named(element, name)[0]?.attributes["w:val"];
}
