import { markdownWithLines } from "../html/html.js";
import { elementNode, textNode, type HtmlElement, type HtmlNode } from "../html/tree.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import {
  codeBlock,
  dedented,
  endOfIndented,
  indentOf,
  isBlank,
  maxBlockDepth,
  sourceLines,
  type SourceLine,
} from "./source-lines.js";
import { directiveNodes, substitutionIn } from "./restructured-text/directives.js";
import { inlineNodes } from "./restructured-text/inline.js";
import { endOfGrid, endOfSimple, gridTable, simpleTable } from "./restructured-text/tables.js";

/**
 * Reads reStructuredText, with the directives of docutils and Sphinx, as Markdown with an anchor for each line. It follows
 * no include: a file can name any other.
 */
export function loadRestructuredText(file: FileToLoad): LoadedText {
  const { lines, warnings } = sourceLines(file);
  const nodes = new BlockReader(lines).blocks(lines, 0);
  return { ...markdownWithLines(nodes), ...warnings };
}

/** A line of one punctuation character, above or below a title, or between two parts. */
const adornment = /^([!-/:-@[-`{-~])\1+$/;
const bullet = /^[*+\-•‣](?: +|$)/;
const numbered =
  /^(?:\(?(?:\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{2,8})\)|(?:\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{2,8})\.)(?: +|$)/;
const field = /^:(?![:\s])((?:[^:\\]|\\.|:(?=\S)){1,200}):(?: +|$)/;
const option =
  /^(?:--?|\/)[\w?][^\s]*(?:[ =](?:<[^<>]+>|[\w-]+))?(?:, (?:--?|\/)[\w?][^\s]*(?:[ =](?:<[^<>]+>|[\w-]+))?)*(?: {2,}|$)/;
/** Fields in which a file tells Sphinx whether it is in a table of contents, and how deep. */
const forSphinx = /^(?:orphan|nosearch|nocomments|tocdepth)$/;
/** Comments, directives, targets, notes and substitutions all start with this. */
const explicit = /^\.\.(?: |$)/;

export class BlockReader {
  readonly #substitutions = new Map<string, string>();
  readonly #titles: string[] = [];

  constructor(lines: readonly SourceLine[]) {
    for (const { text: each } of lines) {
      const found = substitutionIn(each);
      if (found) this.#substitutions.set(found.name.toLowerCase(), found.words);
    }
  }

  /** The blocks of some lines. `depth`: the number of blocks around them; titles stand in none. */
  blocks(lines: readonly SourceLine[], depth: number): HtmlNode[] {
    const nodes: HtmlNode[] = [];
    for (let at = 0; at < lines.length;) {
      if (isBlank(lines[at])) {
        at++;
        continue;
      }
      const { node, end } = this.#block(lines, at, depth);
      nodes.push(...node);
      at = end;
    }
    return nodes;
  }

  /** Words of a line or of several as the content of an element. */
  inline(lines: readonly SourceLine[]): HtmlNode[] {
    const [first] = lines;
    return first ? inlineNodes(lines.map((each) => each.text).join("\n"), first.line, this.#substitutions) : [];
  }

  #block(lines: readonly SourceLine[], at: number, depth: number): { node: readonly HtmlNode[]; end: number } {
    const line = lines[at]!;
    const found = (depth > maxBlockDepth ? undefined : this.#nested(lines, at, depth)) ?? this.#flat(lines, at, depth);
    if (found) return found;
    return this.#paragraph(lines, at, line, depth);
  }

  /** Blocks that hold no others. */
  #flat(lines: readonly SourceLine[], at: number, depth: number) {
    const { text: first, line } = lines[at]!;
    const title = depth === 0 ? this.#title(lines, at) : undefined;
    if (title) return title;
    if (adornment.test(first) && first.length >= 4 && isBlank(lines[at + 1])) return { node: [], end: at + 1 };
    if (first.startsWith(">>> ")) {
      const end = endOfParagraph(lines, at);
      return { node: [codeBlock(lines.slice(at, end), "python")], end };
    }
    if (/^\|(?: |$)/.test(first)) {
      const end = endWhere(lines, at, (each) => !/^(?:\|(?: |$)| )/.test(each.text));
      const verse = lines
        .slice(at, end)
        .flatMap((each) => [
          ...this.inline([{ ...each, text: each.text.replace(/^\| ?/, "") }]),
          elementNode("br", [], {}, each.line),
        ]);
      return { node: [elementNode("p", verse, {}, line)], end };
    }
    return undefined;
  }

  #title(lines: readonly SourceLine[], at: number) {
    const [first, second, third] = [lines[at]!, lines[at + 1]?.text ?? "", lines[at + 2]?.text ?? ""];
    const hasOverline = adornment.test(first.text) && second !== "" && third === first.text;
    const isTitle = hasOverline || (adornment.test(second) && isUnderline(first.text, second));
    if (!isTitle) return undefined;
    const style = (hasOverline ? "over" : "") + second.charAt(0) + (hasOverline ? first.text.charAt(0) : "");
    const key = hasOverline ? `over ${first.text.charAt(0)}` : style;
    if (!this.#titles.includes(key)) this.#titles.push(key);
    const words = hasOverline ? { text: second.trim(), line: first.line + 1 } : first;
    const level = Math.min(6, this.#titles.indexOf(key) + 1);
    return { node: [elementNode(`h${level}`, this.inline([words]), {}, words.line)], end: at + (hasOverline ? 3 : 2) };
  }

  /** Blocks that may hold others. */
  #nested(lines: readonly SourceLine[], at: number, depth: number) {
    const { text: first, line } = lines[at]!;
    if (first.startsWith(" ")) {
      const end = endOfIndented(lines, at, 1);
      return {
        node: [elementNode("blockquote", this.blocks(dedented(lines.slice(at, end)), depth + 1), {}, line)],
        end,
      };
    }
    const read = (cell: readonly SourceLine[]) => this.blocks(cell, depth + 1);
    const grid = endOfGrid(lines, at);
    if (grid > at) return { node: [gridTable(lines.slice(at, grid), read)], end: grid };
    const simple = endOfSimple(lines, at);
    if (simple > at) return { node: [simpleTable(lines.slice(at, simple), read)], end: simple };
    if (explicit.test(first)) {
      const end = endOfIndented(lines, at + 1, 1);
      return {
        node: directiveNodes(lines.slice(at, Math.max(at + 1, end)), this, depth + 1),
        end: Math.max(at + 1, end),
      };
    }
    if (/^__(?: |$)/.test(first)) return { node: [], end: at + 1 };
    if (bullet.test(first)) return this.#list(lines, at, depth, "ul", bullet);
    if (numbered.test(first) && isItem(lines, at)) return this.#list(lines, at, depth, "ol", numbered);
    if (field.test(first)) return this.#described(lines, at, depth, field);
    if (option.test(first)) return this.#described(lines, at, depth, option);
    const next = lines[at + 1];
    if (next && !isBlank(next) && indentOf(next) > 0) return this.#definition(lines, at, depth);
    return undefined;
  }

  #list(lines: readonly SourceLine[], at: number, depth: number, name: string, mark: RegExp) {
    const items: HtmlElement[] = [];
    const start = Number.parseInt(/\d+/.exec(lines[at]!.text)?.[0] ?? "1", 10);
    let end = at;
    while (end < lines.length && mark.test(lines[end]!.text)) {
      const { item, after } = itemAt(lines, end, mark.exec(lines[end]!.text)![0].length);
      items.push(elementNode("li", this.blocks(item, depth + 1), {}, lines[end]!.line));
      end = after;
    }
    return { node: [elementNode(name, items, { start: String(start) }, lines[at]!.line)], end };
  }

  /** Fields and options: a name, and what it is. */
  #described(lines: readonly SourceLine[], at: number, depth: number, mark: RegExp) {
    const children: HtmlElement[] = [];
    let end = at;
    while (end < lines.length && mark.test(lines[end]!.text)) {
      const { 0: whole, 1: name } = mark.exec(lines[end]!.text)!;
      const { item, after } = itemAt(lines, end, whole.length);
      const { line } = lines[end]!;
      const words =
        name === undefined
          ? [elementNode("code", [textNode(whole.trim(), line)], {}, line)]
          : this.inline([{ text: name, line }]);
      end = after;
      if (forSphinx.test(name ?? "")) continue;
      children.push(elementNode("dt", words, {}, line), elementNode("dd", this.blocks(item, depth + 1), {}, line));
    }
    return { node: [elementNode("dl", children, {}, lines[at]!.line)], end };
  }

  #definition(lines: readonly SourceLine[], at: number, depth: number) {
    const end = endOfIndented(lines, at + 1, 1);
    const term = { ...lines[at]!, text: lines[at]!.text.replace(/ : /g, ": ") };
    const body = this.blocks(dedented(lines.slice(at + 1, end)), depth + 1);
    const children = [
      elementNode("dt", this.inline([term]), {}, term.line),
      elementNode("dd", body, {}, term.line + 1),
    ];
    return { node: [elementNode("dl", children, {}, term.line)], end };
  }

  #paragraph(lines: readonly SourceLine[], at: number, { line }: SourceLine, depth: number) {
    let end = endOfParagraph(lines, at);
    // A title needs no empty line above it when it is underlined: then the paragraph ends before it.
    const words = lines.slice(at, end);
    const last = words.at(-1)!;
    const isLiteral = last.text.endsWith("::");
    if (isLiteral)
      words[words.length - 1] = { ...last, text: last.text.replace(/(^|\s)::$|:(?=:$)/, "$1").replace(/::$/, ":") };
    const filled = words.filter((each) => each.text.trim() !== "");
    const node = filled.length > 0 ? [elementNode("p", this.inline(filled.map(trimmed)), {}, line)] : [];
    if (isLiteral && depth <= maxBlockDepth) {
      while (end < lines.length && isBlank(lines[end])) end++;
      const code = endOfLiteral(lines, end);
      if (code > end) node.push(codeBlock(dedented(lines.slice(end, code))));
      end = code;
    }
    return { node, end };
  }
}

/** The text of an item whose mark has `width` columns, and the index behind it. */
function itemAt(lines: readonly SourceLine[], at: number, width: number): { item: SourceLine[]; after: number } {
  const first = { ...lines[at]!, text: lines[at]!.text.slice(width) };
  const body = endOfIndented(lines, at + 1, 1);
  let after = Math.max(at + 1, body);
  const item = [first, ...dedented(lines.slice(at + 1, body))];
  while (after < lines.length && isBlank(lines[after])) after++;
  return { item, after };
}

/** A line that starts like an item is one when the next is empty, indented, or an item, too: `A. Einstein was` is none. */
function isItem(lines: readonly SourceLine[], at: number): boolean {
  const next = lines[at + 1];
  return next === undefined || isBlank(next) || indentOf(next) > 0 || numbered.test(next.text);
}

function isUnderline(title: string, line: string): boolean {
  return title !== "" && !title.startsWith(" ") && !adornment.test(title) && line.length >= Math.min(title.length, 4);
}

function endWhere(lines: readonly SourceLine[], from: number, isOver: (line: SourceLine) => boolean): number {
  let end = from + 1;
  while (end < lines.length && !isBlank(lines[end]) && !isOver(lines[end]!)) end++;
  return end;
}

function endOfParagraph(lines: readonly SourceLine[], from: number): number {
  return endWhere(lines, from, () => false);
}

/** The index behind a literal block: it is indented, or each of its lines starts with the same mark. */
function endOfLiteral(lines: readonly SourceLine[], from: number): number {
  const indented = endOfIndented(lines, from, 1);
  const mark = /^[!-/:-@[-`{-~]/.exec(lines[from]?.text ?? "")?.[0];
  if (indented > from || mark === undefined || explicit.test(lines[from]!.text)) return indented;
  return endWhere(lines, from, (each) => !each.text.startsWith(mark));
}

function trimmed({ text: words, line }: SourceLine): SourceLine {
  return { text: words.trim(), line };
}
