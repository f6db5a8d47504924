import { LoadError } from "../../../core/errors.js";
import { markdownWithLines } from "../html/html.js";
import { elementNode, textNode, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import {
  accented,
  codeMacros,
  headings,
  mathEnvironments,
  silentMacros,
  spanningCell,
  symbols,
  verbatimEnvironments,
} from "./latex-macros.js";
import { LatexStructure } from "./latex-structure.js";
import { codeBlock, dedented, maxBlockDepth, sourceLines } from "./source-lines.js";

/** Uses of the macros that a file defines: a few lines can be made to mean a million. */
const maxExpansions = 20_000;
const maxArguments = 9;

/**
 * Reads LaTeX as Markdown with an anchor for each block: sections, lists, tables, listings, and the words of all else.
 * Formulas stay as they are written. Macros that the file defines are replaced; no other file is read.
 *
 * @throws LoadError (`too-large`) for more lines than a text that people write has, or too many uses of its macros.
 */
export function loadLatex(file: FileToLoad): LoadedText {
  const { lines, warnings } = sourceLines(file);
  const source = lines.map(({ text }) => text).join("\n");
  const reader = new LatexReader(file.uri);
  const nodes = reader.document(source);
  return {
    ...markdownWithLines(nodes, reader.title),
    ...(reader.author !== undefined && { metadata: { author: reader.author } }),
    ...warnings,
  };
}

interface Macro {
  readonly parameters: number;
  /** Value of the first parameter if it is omitted. */
  readonly byDefault?: string;
  readonly body: string;
}

class LatexReader {
  readonly #uri: string;
  readonly #macros = new Map<string, Macro>();
  #expansions = 0;
  #title: HtmlNode[] = [];
  author: string | undefined;

  constructor(uri: string) {
    this.#uri = uri;
  }

  get title(): string | undefined {
    return plainWords(this.#title);
  }

  document(source: string): HtmlNode[] {
    const structure = new LatexStructure(source);
    const begin = /\\begin\s*\{document\}/.exec(source);
    // The preamble defines macros, and names title and author.
    if (begin) this.#read(structure, 0, begin.index, 0);
    const start = begin ? begin.index + begin[0].length : 0;
    const end = begin ? (structure.endOfEnvironment(begin.index)?.to ?? source.length) : source.length;
    return paragraphs(this.#read(structure, start, end, 0));
  }

  /** Words, blocks, and `par` elements between paragraphs. */
  #read(structure: LatexStructure, from: number, to: number, depth: number): HtmlNode[] {
    const { source } = structure;
    const nodes: HtmlNode[] = [];
    let offset = from;
    while (offset < to) {
      const line = structure.lineAt(offset);
      const special = structure.nextSpecial(offset, to);
      if (special > offset) {
        nodes.push(textNode(typeset(source.slice(offset, special)), line));
        offset = special;
        continue;
      }
      const unit = source[offset]!;
      if (unit === "\n") {
        const blank = /\n[ \t]*(?:\n\s*)*/y;
        blank.lastIndex = offset;
        const [white] = blank.exec(source)!;
        nodes.push(
          white.trimEnd() === "" && white.indexOf("\n", 1) > 0
            ? elementNode("par", [], {}, line)
            : textNode("\n", line),
        );
        offset = Math.min(to, offset + white.length);
      } else if (unit === "%") {
        const end = source.indexOf("\n", offset);
        offset = end < 0 ? to : /\S/.test(source.slice(end + 1, end + 200).split("\n")[0]!) ? end + 1 : end;
      } else if (unit === "{") {
        const end = structure.closeOf(offset);
        if (end !== undefined && end < to && depth <= 2 * maxBlockDepth)
          nodes.push(...this.#read(structure, offset + 1, end, depth + 1));
        offset = end !== undefined && end < to ? (depth <= 2 * maxBlockDepth ? end + 1 : offset + 1) : offset + 1;
      } else if (unit === "}") offset++;
      else if (unit === "~" || unit === "&") {
        nodes.push(textNode(" ", line));
        offset++;
      } else if (unit === "$") {
        const mark = source[offset + 1] === "$" ? "$$" : "$";
        const end = structure.endOfMath(mark, offset + mark.length, to);
        if (end === undefined) offset += mark.length;
        else {
          nodes.push(textNode(source.slice(offset + mark.length, end), line));
          offset = end + mark.length;
        }
      } else offset = this.#macro(structure, offset, to, depth, nodes);
    }
    return nodes;
  }

  /** Reads the macro at `at` into `nodes`; returns the index behind it and its arguments. */
  #macro(structure: LatexStructure, offset: number, to: number, depth: number, nodes: HtmlNode[]): number {
    const { source } = structure;
    const line = structure.lineAt(offset);
    const [whole, word] = /^\\(?:([A-Za-z@]+)\*?[ \t]*|[\s\S]?)/.exec(source.slice(offset, offset + 80))!;
    let next = offset + whole.length;
    const deeper = depth <= 2 * maxBlockDepth;
    if (word === undefined) {
      const symbol = whole[1] ?? "";
      if (symbol === "(" || symbol === "[") {
        const end = structure.find(symbol === "(" ? "\\)" : "\\]", next);
        if (end < 0 || end > to) return next;
        nodes.push(textNode(source.slice(next, end), line));
        return end + 2;
      }
      if (symbol === "\\") {
        nodes.push(elementNode("br", [], {}, line));
        return structure.afterOptions(next, to);
      }
      const accent = accented(symbol, source.slice(next, next + 8));
      nodes.push(
        textNode(accent?.letter ?? (/[%&#_${}]/.test(symbol) ? symbol : /[\s,;:!]/.test(symbol) ? " " : ""), line),
      );
      return next + (accent?.length ?? 0);
    }
    if (word === "begin") return deeper ? this.#environment(structure, offset, to, depth, nodes) : next;
    if (word === "end") return structure.afterGroup(next, to);
    if (word === "verb" || word === "lstinline") {
      const start = structure.afterOptions(offset + 1 + word.length, to);
      const mark = source[start] === "{" ? "}" : source[start];
      const end = mark === undefined ? -1 : structure.find(mark, start + 1);
      if (end < 0 || end > to || source.slice(start, end).includes("\n")) return next;
      nodes.push(elementNode("code", [textNode(source.slice(start + 1, end), line)], {}, line));
      return end + 1;
    }
    const own = this.#macros.get(word);
    if (own) return this.#expand(own, structure, next, to, depth, nodes);
    if (word === "newcommand" || word === "renewcommand" || word === "providecommand" || word === "def")
      return this.#define(structure, next, to);
    const symbol = symbols.get(word);
    if (symbol !== undefined) {
      nodes.push(textNode(symbol, line));
      return source.startsWith("{}", next) ? next + 2 : next;
    }
    const silent = silentMacros.get(word);
    const optioned = structure.afterOptions(next, to);
    if (silent !== undefined) {
      next = optioned;
      for (let count = 0; count < silent; count++) next = structure.afterOptions(structure.afterGroup(next, to), to);
      return next;
    }
    const argument = () => {
      const group = structure.groupAt(optioned, to);
      return group && deeper
        ? { nodes: this.#read(structure, group.from, group.to, depth + 1), end: group.to + 1 }
        : undefined;
    };
    if (word === "title" || word === "author") {
      const given = argument();
      if (word === "title") this.#title = given?.nodes ?? [];
      else this.author = plainWords(given?.nodes);
      return given?.end ?? optioned;
    }
    if (word === "maketitle") {
      if (this.#title.length > 0) nodes.push(elementNode("h1", this.#title, {}, line));
      return next;
    }
    const level = headings.get(word);
    if (level !== undefined) {
      const given = argument();
      if (given) nodes.push(elementNode(`h${level}`, given.nodes, {}, line));
      return given?.end ?? optioned;
    }
    if (codeMacros.has(word)) {
      const given = argument();
      if (given)
        nodes.push(
          elementNode(
            "code",
            given.nodes.map((node) => textNode(textOf(node), line)),
            {},
            line,
          ),
        );
      return given?.end ?? optioned;
    }
    if (/^(?:(?:no)?cite\w*|(?:eq|page|auto|c|C|v|name)?ref)$/.test(word)) {
      const group = structure.groupAt(optioned, to);
      if (group && word !== "nocite") nodes.push(textNode(`[${source.slice(group.from, group.to)}]`, line));
      return group ? group.to + 1 : optioned;
    }
    if (word === "footnote" || word === "footnotetext") {
      const given = argument();
      if (given)
        nodes.push(textNode(" (", line), ...given.nodes.filter((node) => textOf(node) !== ""), textNode(")", line));
      return given?.end ?? optioned;
    }
    if (word === "href") return structure.afterGroup(optioned, to);
    if (word === "caption") {
      const given = argument();
      if (given) nodes.push(elementNode("p", given.nodes, {}, line));
      return given?.end ?? optioned;
    }
    if (word === "par" || word === "bigskip" || word === "medskip" || word === "newpage" || word === "clearpage")
      nodes.push(elementNode("par", [], {}, line));
    // Arguments of any other macro are text: a font's, a box's, or those of a package's macro.
    const accent = word.length === 1 ? accented(word, source.slice(next, next + 8)) : undefined;
    if (accent) {
      nodes.push(textNode(accent.letter, line));
      return next + accent.length;
    }
    return source[next] === "[" ? optioned : next;
  }

  #environment(structure: LatexStructure, position: number, to: number, depth: number, nodes: HtmlNode[]): number {
    const { source } = structure;
    const line = structure.lineAt(position);
    const found = structure.endOfEnvironment(position);
    if (!found || found.after > to) return structure.afterGroup(position + "\\begin".length, to);
    const { name, from, to: end, after } = found;
    if (verbatimEnvironments.has(name)) {
      const options = structure.afterOptions(from, end);
      const [, language] = /language=\{?([\w+#-]+)/i.exec(source.slice(from, options)) ?? [];
      const minted = name.startsWith("minted") ? structure.groupAt(options, end) : undefined;
      const start = minted ? minted.to + 1 : options;
      const code = source
        .slice(start, end)
        .split("\n")
        .map((text, index) => ({ text, line: structure.lineAt(start) + index }));
      nodes.push(
        codeBlock(
          dedented(code.slice(code[0]?.text.trim() === "" ? 1 : 0)),
          (minted ? source.slice(minted.from, minted.to) : language)?.toLowerCase(),
        ),
      );
    } else if (mathEnvironments.has(name)) {
      const formula = source
        .slice(from, end)
        .replace(/\\label\{[^{}]*\}/g, "")
        .trim();
      nodes.push(elementNode("p", [textNode(formula, line)], {}, line));
    } else if (/^(?:itemize|enumerate|description|compactitem|compactenum|inparaenum)\*?$/.test(name)) {
      nodes.push(this.#list(structure, name, structure.afterOptions(from, end), end, depth));
    } else if (/^(?:tabular[xy*]?|longtable|tabu|supertabular|array)\*?$/.test(name)) {
      const wide = /^tabular[xy*]/.test(name) ? structure.afterGroup(from, end) : from;
      nodes.push(this.#table(structure, structure.afterGroup(structure.afterOptions(wide, end), end), end, depth));
    } else if (name === "thebibliography") {
      nodes.push(...paragraphs(this.#read(structure, structure.afterGroup(from, end), end, depth + 1)));
    } else if (!/^(?:comment|tikzpicture|pgfpicture|picture|filecontents\*?)$/.test(name)) {
      const inside = paragraphs(
        this.#read(structure, name === "document" ? from : structure.afterArguments(name, from, end), end, depth + 1),
      );
      nodes.push(elementNode(/^(?:quot|verse)/.test(name) ? "blockquote" : "div", inside, {}, line));
    }
    return after;
  }

  #list(structure: LatexStructure, name: string, from: number, to: number, depth: number): HtmlElement {
    const line = structure.lineAt(from);
    const starts = structure.items(from, to);
    const children = starts.flatMap((start, index): HtmlElement[] => {
      const end = starts[index + 1] ?? to;
      const after = start + "\\item".length;
      const body = structure.afterOptions(after, end);
      const label =
        body > after ? this.#read(structure, structure.optionAt(after, end)!.from, body - 1, depth + 1) : [];
      const content = paragraphs(this.#read(structure, body, end, depth + 1));
      const position = structure.lineAt(start);
      if (name === "description")
        return [elementNode("dt", label, {}, position), elementNode("dd", content, {}, position)];
      return [
        elementNode(
          "li",
          label.length > 0 ? [elementNode("p", label, {}, position), ...content] : content,
          {},
          position,
        ),
      ];
    });
    return elementNode(name === "description" ? "dl" : /enum/.test(name) ? "ol" : "ul", children, {}, line);
  }

  #table(structure: LatexStructure, from: number, to: number, depth: number): HtmlElement {
    const rows = structure.rows(from, to).map((cells) => {
      const read = cells.map(({ from: start, to: end }) => {
        const many = spanningCell.exec(structure.source.slice(start, Math.min(end, start + 400)));
        const first = many ? structure.afterGroup(start + many[0].length, end) : start;
        const content = this.#read(structure, first, end, depth + 1).filter(
          (node) => !("name" in node) || node.name !== "par",
        );
        return elementNode("td", content, many ? { colspan: many[1]! } : {}, structure.lineAt(start));
      });
      return elementNode("tr", read, {}, read[0]?.line);
    });
    return elementNode("table", rows, {}, structure.lineAt(from));
  }

  /** `\newcommand{\name}[2][default]{body}` and `\def\name#1{body}`. */
  #define(structure: LatexStructure, from: number, to: number): number {
    const { source } = structure;
    const [head, name] = /^\s*\{?\s*\\([A-Za-z@]+)\s*\}?\s*/.exec(source.slice(from, from + 120)) ?? [];
    if (head === undefined) return structure.afterGroup(structure.afterGroup(from, to), to);
    let next = from + head.length;
    const hashes = /^(?:#\d)*/.exec(source.slice(next, next + 2 * maxArguments))![0];
    next += hashes.length;
    const count = structure.optionAt(next, to);
    if (count) next = count.to + 1;
    const byDefault = count && structure.optionAt(next, to);
    if (byDefault) next = byDefault.to + 1;
    const body = structure.groupAt(next, to);
    if (!body) return next;
    const parameters = count ? Number(source.slice(count.from, count.to)) : hashes.length / 2;
    this.#macros.set(name!, {
      parameters: parameters <= maxArguments ? parameters : 0,
      ...(byDefault && { byDefault: source.slice(byDefault.from, byDefault.to) }),
      body: source.slice(body.from, body.to),
    });
    return body.to + 1;
  }

  #expand(macro: Macro, structure: LatexStructure, from: number, to: number, depth: number, nodes: HtmlNode[]): number {
    const given: string[] = [];
    let next = from;
    if (macro.byDefault !== undefined) {
      const option = structure.optionAt(next, to);
      given.push(option ? structure.source.slice(option.from, option.to) : macro.byDefault);
      if (option) next = option.to + 1;
    }
    while (given.length < macro.parameters) {
      const group = structure.groupAt(next, to);
      if (!group) break;
      given.push(structure.source.slice(group.from, group.to));
      next = group.to + 1;
    }
    const body = macro.body.replace(/#([1-9])/g, (_, number: string) => given[Number(number) - 1] ?? "");
    this.#expansions += 1 + body.length / 1000;
    if (this.#expansions > maxExpansions) {
      const message = `${this.#uri} uses its own macros more than ${maxExpansions} times: write them out`;
      throw new LoadError("too-large", this.#uri, message);
    }
    if (depth <= maxBlockDepth) {
      const inner = new LatexStructure(body, structure.lineAt(from));
      nodes.push(...this.#read(inner, 0, body.length, depth + 2));
    }
    return structure.source.startsWith("{}", next) ? next + 2 : next;
  }
}

const blockNames = /^(?:h[1-6]|p|ul|ol|dl|pre|table|div|blockquote)$/;

/** Puts words between blocks and empty lines into paragraphs. */
function paragraphs(nodes: readonly HtmlNode[]): HtmlNode[] {
  const blocks: HtmlNode[] = [];
  let words: HtmlNode[] = [];
  const flush = () => {
    const first = words.find((node) => textOf(node).trim() !== "");
    if (first) blocks.push(elementNode("p", words, {}, first.line));
    words = [];
  };
  for (const node of nodes) {
    const name = "name" in node ? node.name : "";
    if (name !== "par" && !blockNames.test(name)) {
      words.push(node);
      continue;
    }
    flush();
    if (name !== "par") blocks.push(node);
  }
  flush();
  return blocks;
}

function plainWords(nodes: readonly HtmlNode[] = []): string | undefined {
  const words = nodes.map(textOf).join("").replace(/\s+/g, " ").replaceAll(" ,", ",");
  return words.trim() || undefined;
}

/** Quotes and dashes as TeX sets them. */
function typeset(words: string): string {
  return words.replaceAll("---", "—").replaceAll("--", "–").replaceAll("``", "“").replaceAll("''", "”");
}
