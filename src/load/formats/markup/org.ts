import { markdownWithLines } from "../html/html.js";
import { elementNode, elementWith, textNode, type HtmlElement, type HtmlNode } from "../element-tree.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { orgInline } from "./org-inline.js";
import { codeBlock, dedented, indentOf, isBlank, maxBlockDepth, sourceLines, type SourceLine } from "./source-lines.js";

/**
 * Reads an Org file as Markdown with an anchor for each line. It follows no include, and runs no code.
 *
 * @throws LoadError (`too-large`) for more lines than a text that people write has.
 */
export function loadOrg(file: FileToLoad): LoadedText {
  const { lines, warnings } = sourceLines(file);
  const keywords = new Map<string, string>();
  for (const { text } of lines) {
    const [, name, value] = /^#\+(title|author|date|description|keywords):\s*(.+)$/i.exec(text) ?? [];
    if (name !== undefined && !keywords.has(name.toLowerCase())) keywords.set(name.toLowerCase(), value!);
  }
  const title = keywords.get("title");
  keywords.delete("title");
  const nodes = blocks(lines, 0);
  const start = title === undefined ? [] : [elementNode("h1", orgInline(title, 1), {}, 1)];
  return {
    ...markdownWithLines([...start, ...nodes]),
    ...(keywords.size > 0 && { metadata: Object.fromEntries(keywords) }),
    ...warnings,
  };
}

const heading = /^(\*+) +(?:COMMENT +)?(.*?)(?:\s+:[\w@#%:]+:)?$/;
const item = /^( *)(?:[-+]|(?<= )\*|(?:\d{1,9}|[A-Za-z])[.)])(?: +|$)(?:\[@\d+\] *)?(?:\[([ xX-])\] +)?/;
const begin = /^\s*#\+begin_(\w+)\s*(.*)$/i;
const drawer = /^\s*:[\w-]+:\s*$/;
/** Lines that tell programs something: keywords, comments, and the times of a task. */
const silent = /^\s*(?:#(?:\+\S+:.*)?(?: .*)?|(?:CLOSED|DEADLINE|SCHEDULED|CLOCK):.*|-{5,})$/;

function blocks(lines: readonly SourceLine[], depth: number): HtmlNode[] {
  const nodes: HtmlNode[] = [];
  const ends = endsOfBlocks(lines);
  for (let index = 0; index < lines.length;) {
    const { node, end } = block(lines, index, depth, ends);
    nodes.push(...node);
    index = end;
  }
  return nodes;
}

/** For each kind of block, the lines that end one, the last one first: a file is not searched again for each start. */
type BlockEnds = ReadonlyMap<string, number[]>;

function endsOfBlocks(lines: readonly SourceLine[]): BlockEnds {
  const ends = new Map<string, number[]>();
  for (const [index, { text }] of lines.entries()) {
    const kind =
      /^\s*#\+end_(\w+)\s*$/i.exec(text)?.[1]?.toLowerCase() ?? (/^\s*:end:\s*$/i.test(text) ? ":end:" : undefined);
    if (kind === undefined) continue;
    const known = ends.get(kind);
    if (known) known.push(index);
    else ends.set(kind, [index]);
  }
  for (const places of ends.values()) places.reverse();
  return ends;
}

/** The first line behind `at` that ends a block of this kind. Blocks are asked about in their order. */
function endBehind(index: number, places: number[] = []): number | undefined {
  let last = places.at(-1);
  for (; last !== undefined && last <= index; last = places.at(-1)) places.pop();
  return last;
}

function block(
  lines: readonly SourceLine[],
  offset: number,
  depth: number,
  ends: BlockEnds,
): { node: readonly HtmlNode[]; end: number } {
  const { text, line } = lines[offset]!;
  const [, stars, words] = (depth === 0 && heading.exec(text)) || [];
  if (stars !== undefined) {
    const title = orgInline(words!, line);
    return { node: [elementNode(`h${Math.min(6, stars.length)}`, title, {}, line)], end: offset + 1 };
  }
  const [, kind, rest] = begin.exec(text) ?? [];
  const endOf = (name: string) => endBehind(offset, ends.get(name));
  if (kind !== undefined) {
    const end = endOf(kind.toLowerCase());
    if (end !== undefined && depth <= maxBlockDepth) {
      return { node: delimited(kind.toLowerCase(), rest!, lines.slice(offset + 1, end), depth), end: end + 1 };
    }
    return { node: [], end: offset + 1 };
  }
  if (drawer.test(text)) {
    const end = endOf(":end:");
    // Properties and logs are short, and one that does not end is a line.
    return { node: [], end: end === undefined ? offset + 1 : end + 1 };
  }
  const caption = /^\s*#\+caption(?:\[[^\]]*\])?:\s*(.+)$/i.exec(text)?.[1];
  if (caption !== undefined) return { node: [elementNode("p", orgInline(caption, line), {}, line)], end: offset + 1 };
  if (text === "" || silent.test(text)) return { node: [], end: offset + 1 };
  if (/^\s*\|/.test(text)) {
    const end = endWhile(lines, offset, (row) => /^\s*\|/.test(row));
    return { node: [table(lines.slice(offset, end))], end };
  }
  if (/^\s*: /.test(text)) {
    const end = endWhile(lines, offset, (codeLine) => /^\s*:(?: |$)/.test(codeLine));
    const code = lines
      .slice(offset, end)
      .map((currentLine) => ({ ...currentLine, text: currentLine.text.replace(/^\s*: ?/, "") }));
    return { node: [codeBlock(code)], end };
  }
  if (item.test(text) && depth <= maxBlockDepth) return list(lines, offset, depth);
  const end = endWhile(lines, offset, (textLine) => !startsBlock(textLine));
  const paragraph = lines.slice(offset, Math.max(end, offset + 1));
  const content = orgInline(paragraph.map((textLine) => textLine.text.trim()).join("\n"), line);
  return { node: [elementNode("p", content, {}, line)], end: offset + paragraph.length };
}

function startsBlock(text: string): boolean {
  return text === "" || /^(?:\*+ |\s*\||\[fn:)/.test(text) || begin.test(text) || item.test(text) || silent.test(text);
}

function delimited(kind: string, rest: string, content: readonly SourceLine[], depth: number): HtmlNode[] {
  switch (kind) {
    case "comment":
    case "export":
    case "html":
    case "latex":
      return [];
    case "src":
    case "example": {
      // Org puts a comma before a line of code that would be a heading.
      const code = content.map((codeLine) => ({
        ...codeLine,
        text: codeLine.text.replace(/^(\s*),(?=\*|#\+|,)/, "$1"),
      }));
      const language = kind === "src" ? (/^[\w+#-]+/.exec(rest)?.[0] ?? "") : "";
      return code.length > 0 ? [codeBlock(dedented(code), language)] : [];
    }
    case "verse": {
      const lines = content.flatMap((contentLine) => [
        ...orgInline(contentLine.text, contentLine.line),
        elementNode("br", [], {}, contentLine.line),
      ]);
      return [elementNode("p", lines, {}, content[0]?.line)];
    }
    case "quote":
      return [elementNode("blockquote", blocks(content, depth + 1), {}, content[0]?.line)];
    default:
      return blocks(content, depth + 1);
  }
}

function list(lines: readonly SourceLine[], index: number, depth: number) {
  const first = item.exec(lines[index]!.text)!;
  const indent = first[1]!.length;
  const isNumbered = /^\s*\w/.test(first[0]);
  const items: HtmlElement[] = [];
  let isDescription = false;
  let end = index;
  for (let mark: RegExpExecArray | null; (mark = end < lines.length ? item.exec(lines[end]!.text) : null);) {
    if (mark[1]!.length !== indent) break;
    const { line } = lines[end]!;
    const from = end + 1;
    end = endOfItem(lines, from, indent);
    const words = lines[from - 1]!.text.slice(mark[0].length);
    const [term, described] = mark[2] === undefined ? words.split(/ :: ?/, 2) : [words];
    const body = [{ text: described ?? term!, line }, ...dedented(lines.slice(from, end))];
    const box = mark[2] === undefined ? [] : [textNode(mark[2].toLowerCase() === "x" ? "☒ " : "☐ ", line)];
    const inside = blocks(body, depth + 1);
    const [start, ...others] = inside as HtmlElement[];
    const content =
      box.length > 0 && start?.name === "p"
        ? [elementWith(start, { children: [...box, ...start.children] }), ...others]
        : inside;
    isDescription ||= described !== undefined;
    if (isDescription) {
      if (described !== undefined) items.push(elementNode("dt", orgInline(term!, line), {}, line));
      items.push(elementNode("dd", content, {}, line));
    } else items.push(elementNode("li", content, {}, line));
    while (end < lines.length && isBlank(lines[end]) && item.test(lines[end + 1]?.text ?? "")) end++;
  }
  const name = isDescription ? "dl" : isNumbered ? "ol" : "ul";
  return { node: [elementNode(name, items, {}, lines[index]!.line)], end };
}

/** The index behind an item: deeper lines belong to it, and two empty lines end it. */
function endOfItem(lines: readonly SourceLine[], from: number, indent: number): number {
  let end = from;
  for (let index = from; index < lines.length; index++) {
    const currentLine = lines[index]!;
    if (isBlank(currentLine)) {
      if (isBlank(lines[index + 1])) break;
      continue;
    }
    if (indentOf(currentLine) <= indent) break;
    end = index + 1;
  }
  return end;
}

function table(lines: readonly SourceLine[]): HtmlElement {
  const rows = lines
    .filter(({ text }) => !/^\s*\|[-+|]*$/.test(text) && !/^\s*\|(?:\s*(?:<[lrc]?\d*>|\/)?\s*\|)+$/.test(text))
    .map(({ text, line }) => {
      const cells = text.trim().replace(/^\|/, "").replace(/\|$/, "").split("|");
      return elementNode(
        "tr",
        cells.map((cell) => elementNode("td", orgInline(cell.trim(), line), {}, line)),
        {},
        line,
      );
    });
  return elementNode("table", rows, {}, lines[0]!.line);
}

function endWhile(lines: readonly SourceLine[], from: number, goesOn: (text: string) => boolean): number {
  let end = from + 1;
  while (end < lines.length && goesOn(lines[end]!.text)) end++;
  return end;
}
