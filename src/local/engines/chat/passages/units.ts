import { blocks } from "../../../../text/blocks/blocks.js";
import type { Block } from "../../../../text/blocks/block.js";
import { plainText, proseSentences } from "../../../../text/blocks/plain-text.js";
import type { ReadSource } from "../reading.js";

/** The smallest part of a source that tells something by itself. Only white space lies between neighbours of one run. */
export interface Unit {
  readonly kind: "sentence" | "item" | "row" | "code";
  readonly source: ReadSource;
  /** Offsets into the text of its source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Number of its paragraph, list, table or code among all. */
  readonly block: number;
  readonly section: Section;
  /** The names of the columns of a row, and the line below them. */
  readonly head?: string;
  /** Whether only its beginning is quoted. Default: all of it. */
  readonly cut?: boolean;
}

/** A stretch of a source below one heading, without anything in it that is not quoted. */
export interface Section {
  /** Titles and headings above it, from the top down. */
  readonly path: readonly string[];
  /** Words of the path and of the document's address. */
  readonly context: string;
  /** Whether a heading stands above it in the text of its source. */
  readonly headed: boolean;
  /** Whether its first unit is the first below its heading. */
  readonly opens: boolean;
}

/** The units of sources in their order. */
export function unitsOf(sources: readonly ReadSource[]): readonly Unit[] {
  const units: Unit[] = [];
  for (const source of sources) new SourceReader(source, units).read();
  return units;
}

class SourceReader {
  readonly #source: ReadSource;
  readonly #units: Unit[];
  #titles: readonly string[];
  #headings: string[] = [];
  #section: Section;
  #block: number;
  #lastKind = "";

  constructor(source: ReadSource, units: Unit[]) {
    this.#source = source;
    this.#units = units;
    this.#titles = (source.title ?? "").split(" > ").filter((part) => part !== "");
    this.#block = (units.at(-1)?.block ?? 0) + 1;
    // Text before the first heading may be the middle of a section.
    this.#section = this.#sectionBelow([], false);
  }

  read(): void {
    const { text } = this.#source;
    const from = endOfCutCode(text);
    if (from > 0) this.#add("code", 0, from);
    for (const block of blocks({ text: text.slice(from), mediaType: "text/markdown" })) {
      this.#block++;
      this.#read({ ...block, start: from + block.start, end: from + block.end });
      this.#lastKind = block.kind;
    }
  }

  #read({ kind, start, end, level = 1, title = "" }: Block): void {
    const text = this.#source.text.slice(start, end);
    if (kind === "heading") {
      // The title names the headings above the beginning of the source, which a heading of their level or above ends.
      this.#titles = this.#titles.slice(0, Math.max(1, level - 1));
      this.#headings = [...this.#headings.slice(0, level - 1), plainText(title)];
      this.#section = this.#sectionBelow([], true);
    } else if (kind === "fence" || kind === "code") this.#add("code", start, end);
    else if (kind === "table" || /^(?:[ \t]*\|[^\n]*\n?)+\s*$/.test(text)) this.#addRows(start, text);
    else if (kind === "front-matter" || !saysSomething(text)) this.#section = this.#sectionBelow([], false);
    else if (kind === "item") {
      if (this.#lastKind === "item") this.#block--;
      this.#add("item", start, end);
    } else this.#addEntryOrProse(start, text);
  }

  /** A term with `: what it means` below it is a heading of its own. */
  #addEntryOrProse(start: number, text: string): void {
    const term = /^(\S[^\n]*)\n:[ \t]/.exec(text)?.[1];
    if (term === undefined) return this.#addSentences(start, text);
    const outer = this.#section;
    this.#section = this.#sectionBelow([plainText(term.replace(/¶$/, ""))], true);
    this.#addSentences(start, text);
    this.#section = { ...outer, opens: false };
  }

  #addSentences(start: number, text: string): void {
    for (const sentence of proseSentences(text)) this.#add("sentence", start + sentence.start, start + sentence.end);
  }

  /** The rows of a table; a source may begin in the middle of one, which then has no names of columns. */
  #addRows(start: number, text: string): void {
    const lines = text.split("\n");
    const hasHead = /^[ \t|:-]*-[ \t|:-]*$/.test(lines[1] ?? "");
    const head = hasHead
      ? lines
          .slice(0, 2)
          .map((line) => line.trim())
          .join("\n")
      : undefined;
    let position = start;
    for (const [index, line] of lines.entries()) {
      if (!hasHead || index > 1) this.#add("row", position, position + line.length, head);
      position += line.length + 1;
    }
  }

  #add(kind: Unit["kind"], start: number, end: number, head?: string): void {
    const text = this.#source.text.slice(start, end);
    if (!/[\p{L}\p{N}]/u.test(kind === "code" ? text : plainText(text).replace(/\[![A-Z]+\]/g, ""))) return;
    const blank = machineLines.exec(text)?.[0].length ?? 0;
    const from = start + blank + (kind === "code" ? 0 : indent(text.slice(blank)));
    this.#units.push({
      kind,
      source: this.#source,
      start: from,
      end: start + text.trimEnd().length,
      block: this.#block,
      section: this.#section,
      ...(head !== undefined && { head }),
    });
  }

  #sectionBelow(terms: readonly string[], opens: boolean): Section {
    const path = [...this.#titles, ...this.#headings, ...terms].filter(
      (part, index, all) => part !== "" && all.indexOf(part) === index,
    );
    return {
      path,
      context: [placeWords(this.#source.uri ?? ""), ...path].join("\n"),
      headed: this.#headings.length > 0,
      opens,
    };
  }
}

/** Blank lines at the beginning, and those that hold only tags, shortcodes or marks of containers. */
const machineLines =
  /^(?:<!--[^]*?-->[ \t]*\n?|[ \t>]*(?:(?:\{\{[<%][^\n]*?[%>]\}\}|<\/?[a-z][^<>\n]*>|\[![A-Z]+\])[ \t]*|:::[^\n]*)?\n)*/i;

function indent(text: string): number {
  return /^[ \t]*/.exec(text)?.[0].length ?? 0;
}

/** The folders and the name of a document, which often say what a text leaves out: `languages/ruby/sampling.md`. */
function placeWords(uri: string): string {
  return uri
    .replace(/^\w+:\/\/[^/]*|[?#].*$|\.\w{1,5}(?=$|[?#])/g, "")
    .replace(/[^\p{L}\p{N}.]+/gu, " ")
    .trim();
}

const fence = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([^\s`]*).*\n?/gm;

/** The end of the code that a source begins in the middle of: closing fences name no language. 0 when it begins outside. */
function endOfCutCode(text: string): number {
  const fences = [...text.matchAll(fence)];
  const [first, second] = fences;
  if (first === undefined || first[1] !== "") return 0;
  const isCut = fences.length % 2 === 1 || (second?.[1] ?? "") !== "";
  return isCut && first.index > 0 ? first.index + first[0].length : 0;
}

/** Lines that lead through a site or say where a text is from, in UTF-16 units at most. */
const maxBoilerplateLength = 200;

function isBoilerplate(text: string): boolean {
  if (text.length > maxBoilerplateLength || /[.。!！?？]\s|\n/.test(text)) return false;
  const separators = text.match(/\s[›»>/|·]\s/g) ?? [];
  return separators.length >= 2 || /^(?:来源|发布时间|责任编辑|编辑|作者)[:：]/.test(text);
}

/** Whether a block is text for readers: not links, images, tags, definitions of links, shortcodes or breadcrumbs alone. */
function saysSomething(block: string): boolean {
  const text = block.trim();
  if (/^(?:\[[^\]^][^\]]*\]:|:{3,}\s*\w*$|<!--)/.test(text) || isBoilerplate(text)) return false;
  const unlinked = text.replace(/!?\[[^\][]*\](?:\([^()]*\)|\[[^\][]*\])/g, "");
  return /[\p{L}\p{N}]/u.test(plainText(unlinked).replace(/\[![A-Z]+\]/g, ""));
}

/** The words of a unit as they stand in its source. */
export function textOf({ source, start, end }: Pick<Unit, "source" | "start" | "end">): string {
  return source.text.slice(start, end);
}

/** Whether a unit ends in a colon, leading up to what follows. */
export function announces(unit: Unit): boolean {
  return unit.kind === "sentence" && /[:：][*_`\s]*$/.test(textOf(unit));
}
