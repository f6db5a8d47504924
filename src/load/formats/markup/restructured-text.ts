import { markdownWithLines } from "../html/html.js";
import { elementNode, textNode, type HtmlElement, type HtmlNode } from "../element-tree.js";
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
    for (const { text: lineText } of lines) {
      const found = substitutionIn(lineText);
      if (found) this.#substitutions.set(found.name.toLowerCase(), found.words);
    }
  }

  /** The blocks of some lines. `depth`: the number of blocks around them; titles stand in none. */
  blocks(lines: readonly SourceLine[], depth: number): HtmlNode[] {
    const nodes: HtmlNode[] = [];
    for (let index = 0; index < lines.length;) {
      if (isBlank(lines[index])) {
        index++;
        continue;
      }
      const { node, end } = this.#block(lines, index, depth);
      nodes.push(...node);
      index = end;
    }
    return nodes;
  }

  /** Words of a line or of several as the content of an element. */
  inline(lines: readonly SourceLine[]): HtmlNode[] {
    const [first] = lines;
    return first
      ? inlineNodes(lines.map((currentLine) => currentLine.text).join("\n"), first.line, this.#substitutions)
      : [];
  }

  #block(lines: readonly SourceLine[], index: number, depth: number): { node: readonly HtmlNode[]; end: number } {
    const line = lines[index]!;
    const found =
      (depth > maxBlockDepth ? undefined : this.#nested(lines, index, depth)) ?? this.#flat(lines, index, depth);
    if (found) return found;
    return this.#paragraph(lines, index, line, depth);
  }

  /** Blocks that hold no others. */
  #flat(lines: readonly SourceLine[], offset: number, depth: number) {
    const { text: first, line } = lines[offset]!;
    const title = depth === 0 ? this.#title(lines, offset) : undefined;
    if (title) return title;
    if (adornment.test(first) && first.length >= 4 && isBlank(lines[offset + 1])) return { node: [], end: offset + 1 };
    if (first.startsWith(">>> ")) {
      const end = endOfParagraph(lines, offset);
      return { node: [codeBlock(lines.slice(offset, end), "python")], end };
    }
    if (/^\|(?: |$)/.test(first)) {
      const end = endWhere(lines, offset, (verseLine) => !/^(?:\|(?: |$)| )/.test(verseLine.text));
      const verse = lines
        .slice(offset, end)
        .flatMap((currentLine) => [
          ...this.inline([{ ...currentLine, text: currentLine.text.replace(/^\| ?/, "") }]),
          elementNode("br", [], {}, currentLine.line),
        ]);
      return { node: [elementNode("p", verse, {}, line)], end };
    }
    return undefined;
  }

  #title(lines: readonly SourceLine[], index: number) {
    const [first, second, third] = [lines[index]!, lines[index + 1]?.text ?? "", lines[index + 2]?.text ?? ""];
    const hasOverline = adornment.test(first.text) && second !== "" && third === first.text;
    const isTitle = hasOverline || (adornment.test(second) && isUnderline(first.text, second));
    if (!isTitle) return undefined;
    const style = (hasOverline ? "over" : "") + second.charAt(0) + (hasOverline ? first.text.charAt(0) : "");
    const key = hasOverline ? `over ${first.text.charAt(0)}` : style;
    if (!this.#titles.includes(key)) this.#titles.push(key);
    const words = hasOverline ? { text: second.trim(), line: first.line + 1 } : first;
    const level = Math.min(6, this.#titles.indexOf(key) + 1);
    return {
      node: [elementNode(`h${level}`, this.inline([words]), {}, words.line)],
      end: index + (hasOverline ? 3 : 2),
    };
  }

  /** Blocks that may hold others. */
  #nested(lines: readonly SourceLine[], offset: number, depth: number) {
    const { text: first, line } = lines[offset]!;
    if (first.startsWith(" ")) {
      const end = endOfIndented(lines, offset, 1);
      return {
        node: [elementNode("blockquote", this.blocks(dedented(lines.slice(offset, end)), depth + 1), {}, line)],
        end,
      };
    }
    const read = (cell: readonly SourceLine[]) => this.blocks(cell, depth + 1);
    const grid = endOfGrid(lines, offset);
    if (grid > offset) return { node: [gridTable(lines.slice(offset, grid), read)], end: grid };
    const simple = endOfSimple(lines, offset);
    if (simple > offset) return { node: [simpleTable(lines.slice(offset, simple), read)], end: simple };
    if (explicit.test(first)) {
      const end = endOfIndented(lines, offset + 1, 1);
      return {
        node: directiveNodes(lines.slice(offset, Math.max(offset + 1, end)), this, depth + 1),
        end: Math.max(offset + 1, end),
      };
    }
    if (/^__(?: |$)/.test(first)) return { node: [], end: offset + 1 };
    if (bullet.test(first)) return this.#list(lines, offset, depth, "ul", bullet);
    if (numbered.test(first) && isItem(lines, offset)) return this.#list(lines, offset, depth, "ol", numbered);
    if (field.test(first)) return this.#described(lines, offset, depth, field);
    if (option.test(first)) return this.#described(lines, offset, depth, option);
    const next = lines[offset + 1];
    if (next && !isBlank(next) && indentOf(next) > 0) return this.#definition(lines, offset, depth);
    return undefined;
  }

  #list(lines: readonly SourceLine[], index: number, depth: number, name: string, mark: RegExp) {
    const items: HtmlElement[] = [];
    const start = Number.parseInt(/\d+/.exec(lines[index]!.text)?.[0] ?? "1", 10);
    let end = index;
    while (end < lines.length && mark.test(lines[end]!.text)) {
      const { item, after } = itemAt(lines, end, mark.exec(lines[end]!.text)![0].length);
      items.push(elementNode("li", this.blocks(item, depth + 1), {}, lines[end]!.line));
      end = after;
    }
    return { node: [elementNode(name, items, { start: String(start) }, lines[index]!.line)], end };
  }

  /** Fields and options: a name, and what it is. */
  #described(lines: readonly SourceLine[], index: number, depth: number, mark: RegExp) {
    const children: HtmlElement[] = [];
    let end = index;
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
    return { node: [elementNode("dl", children, {}, lines[index]!.line)], end };
  }

  #definition(lines: readonly SourceLine[], offset: number, depth: number) {
    const end = endOfIndented(lines, offset + 1, 1);
    const term = { ...lines[offset]!, text: lines[offset]!.text.replace(/ : /g, ": ") };
    const body = this.blocks(dedented(lines.slice(offset + 1, end)), depth + 1);
    const children = [
      elementNode("dt", this.inline([term]), {}, term.line),
      elementNode("dd", body, {}, term.line + 1),
    ];
    return { node: [elementNode("dl", children, {}, term.line)], end };
  }

  #paragraph(lines: readonly SourceLine[], offset: number, { line }: SourceLine, depth: number) {
    let end = endOfParagraph(lines, offset);
    // A title needs no empty line above it when it is underlined: then the paragraph ends before it.
    const words = lines.slice(offset, end);
    const last = words.at(-1)!;
    const isLiteral = last.text.endsWith("::");
    if (isLiteral)
      words[words.length - 1] = { ...last, text: last.text.replace(/(^|\s)::$|:(?=:$)/, "$1").replace(/::$/, ":") };
    const filled = words.filter((word) => word.text.trim() !== "");
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
function itemAt(lines: readonly SourceLine[], offset: number, width: number): { item: SourceLine[]; after: number } {
  const first = { ...lines[offset]!, text: lines[offset]!.text.slice(width) };
  const body = endOfIndented(lines, offset + 1, 1);
  let after = Math.max(offset + 1, body);
  const item = [first, ...dedented(lines.slice(offset + 1, body))];
  while (after < lines.length && isBlank(lines[after])) after++;
  return { item, after };
}

/** A line that starts like an item is one when the next is empty, indented, or an item, too: `A. Einstein was` is none. */
function isItem(lines: readonly SourceLine[], index: number): boolean {
  const next = lines[index + 1];
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
  return endWhere(lines, from, (candidateLine) => !candidateLine.text.startsWith(mark));
}

function trimmed({ text: words, line }: SourceLine): SourceLine {
  return { text: words.trim(), line };
}
