import { named, type HtmlElement } from "../html/tree.js";
import { ListCounter, type ListLevel } from "./list-numbers.js";
import type { Package } from "./package.js";

/** Characters around a number on its way through mammoth, which counts nothing: Unicode has none at these points. */
const [opening, closing] = ["\u{fdd0}", "\u{fdd1}"];

/** Styles and lists are made from others, but not in circles. */
export const maxSteps = 20;

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
      return `${start}<w:r><w:t>${opening}${escaped(number)}${closing}</w:t></w:r>`;
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

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

interface StyleNumber {
  /** The style that says so, of those that a style is made from. */
  readonly id?: string | undefined;
  readonly list?: string | undefined;
  readonly level?: string | undefined;
}

/** The list that a style of paragraphs, or one that it is made from, belongs to, and its level there. */
function numberOfStyle(id: string | undefined, styles: ElementsById): StyleNumber {
  let found: StyleNumber = {};
  for (let steps = 0; id !== undefined && found.list === undefined && steps < maxSteps; steps++) {
    const style = styles.get(id);
    const [numbered] = named(style, "w:numPr");
    const level = found.level ?? valueOf(numbered, "w:ilvl");
    found = { id: numbered ? (found.id ?? id) : found.id, list: valueOf(numbered, "w:numId"), level };
    id = valueOf(style, "w:basedOn");
  }
  return found;
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

type ElementsById = ReadonlyMap<string, HtmlElement>;

function byId(root: HtmlElement | undefined, name: string, attribute: string): ElementsById {
  return new Map(named(root, name).map((element) => [element.attributes[attribute] ?? "", element]));
}

/** The value of the first element of this name inside another. */
export function valueOf(element: HtmlElement | undefined, name: string): string | undefined {
  return named(element, name)[0]?.attributes["w:val"];
}
