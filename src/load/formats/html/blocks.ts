import { inlineLine, inlineLines, verbatimLines, type Line } from "./inline.js";
import { cellsOf, inOneLine, isGutter, isLayout, rowsOf, tableLines } from "./table.js";
import { isText, named, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** Lines that stand together; between two blocks there is an empty line. */
export type Block = readonly Line[];

/** Elements with lines of their own; `desc` and `text` stand in drawings. */
const blockNames: ReadonlySet<string> = new Set(
  "address article aside blockquote body center dd desc details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol optgroup p pre search section summary table tbody td text tfoot th thead tr ul".split(
    " ",
  ),
);

/** Text of links from a heading to itself. */
const permalink = /^(?:[¶#§🔗\s]*|permalink|link to this (?:heading|section))$/iu;

/** Deeper lists and quotations are not indented further: each level adds to every line in it. */
const maxIndentation = 16;

/** Renders nodes as blocks of Markdown. `depth`: the number of lists and quotations around them. */
export function blocksOf(nodes: readonly HtmlNode[], depth = 0): Block[] {
  const blocks: Block[] = [];
  let inline: HtmlNode[] = [];
  const flush = () => {
    if (inline.length === 0) return;
    const lines = inlineLines(inline);
    if (lines.length > 0) blocks.push(lines.map(asParagraphLine));
    inline = [];
  };
  for (const node of nodes) {
    if (isText(node) || !holdsBlocks(node)) {
      inline.push(node);
      continue;
    }
    flush();
    for (const block of blocksOfElement(node, depth)) blocks.push(block);
  }
  flush();
  return blocks;
}

const headingNames: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const indenting: ReadonlySet<string> = new Set(["ul", "ol", "dl", "blockquote"]);

/** Whether an element has lines of its own, or holds one that has. */
export function holdsBlocks(element: HtmlElement): boolean {
  return blockNames.has(element.name) || element.children.some((child) => !isText(child) && holdsBlocks(child));
}

function blocksOfElement(element: HtmlElement, depth: number): Block[] {
  if (headingNames.has(element.name)) return heading(element);
  switch (depth < maxIndentation || !indenting.has(element.name) ? element.name : "div") {
    case "ul":
    case "ol":
      return nonEmpty(listLines(element, depth + 1));
    case "dl":
      return nonEmpty(descriptionLines(element, depth + 1));
    case "pre":
      return nonEmpty(fenced(element));
    case "blockquote":
      return nonEmpty(
        joined(blocksOf(element.children, depth + 1)).map(({ text, line }) => ({ text: `> ${text}`.trimEnd(), line })),
      );
    case "table":
      return tableBlocks(element, depth);
    default:
      return blocksOf(element.children, depth);
  }
}

function heading({ name, children }: HtmlElement): Block[] {
  const words = children.filter(
    (child) => isText(child) || child.name !== "a" || !permalink.test(textOf(child).trim()),
  );
  const line = inlineLine(words);
  return line ? [[{ text: `${"#".repeat(Number(name[1]))} ${line.text}`, line: line.line }]] : [];
}

function listLines(list: HtmlElement, depth: number): Line[] {
  const start = Number.parseInt(list.attributes["start"] ?? "1", 10);
  let number = Number.isNaN(start) ? 1 : start;
  return list.children.flatMap((child) => {
    if (isText(child) || child.name !== "li") return joined(blocksOf([child], depth));
    const lines = joined(blocksOf(child.children, depth), "tight");
    if (lines.length === 0) return [];
    const own = child.attributes["data-number-shown"];
    const mark = own === undefined ? (list.name === "ol" ? `${number++}. ` : "- ") : own && `${own} `;
    return indented(lines, mark, " ".repeat(mark.length));
  });
}

function descriptionLines(list: HtmlElement, depth: number): Line[] {
  return list.children.flatMap((child) => {
    if (isText(child)) return joined(blocksOf([child], depth));
    if (child.name === "div") return descriptionLines(child, depth);
    const inside = child.name === "dt" || child.name === "dd" ? child.children : [child];
    const lines = joined(blocksOf(inside, depth), "tight");
    return child.name === "dd" ? indented(lines, ": ", "  ") : lines;
  });
}

function fenced(element: HtmlElement): Line[] {
  const all = verbatimLines(element.children);
  const isFilled = ({ text }: Line) => text.trim() !== "";
  const lines = all.slice(Math.max(0, all.findIndex(isFilled)), all.findLastIndex(isFilled) + 1);
  const [first] = lines;
  if (!first) return [];
  const classes = [...named(element, "code").slice(0, 1), element].map(({ attributes }) => attributes["class"] ?? "");
  const language = /(?:^|\s)(?:language|lang)-([\w+#.-]+)/.exec(classes.join(" "))?.[1] ?? "";
  const runs = lines.flatMap(({ text }) => text.match(/`+/g) ?? []);
  const mark = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return [{ text: mark + language, line: first.line }, ...lines, { text: mark, line: lines.at(-1)!.line }];
}

function tableBlocks(table: HtmlElement, depth: number): Block[] {
  if (rowsOf(table).length === 0) return blocksOf(table.children, depth);
  const captions = named(table, "caption", "table").filter(({ name }) => name === "caption");
  const above = captions.flatMap(({ children }) => blocksOf(children, depth));
  if (isLayout(table)) {
    const cells = rowsOf(table).flatMap((row) => cellsOf(row).filter((cell) => !isGutter(cell)));
    return [...above, ...cells.flatMap(({ children }) => blocksOf(children, depth))];
  }
  return [
    ...above,
    ...nonEmpty(tableLines(table, ({ children }) => joined(blocksOf(inOneLine(children), depth), "tight"))),
  ];
}

/** Joins blocks to lines, with an empty line between two; `tight`: only around code. */
export function joined(blocks: readonly Block[], spacing: "tight" | "loose" = "loose"): Line[] {
  const lines: Line[] = [];
  let before: Block | undefined;
  for (const block of blocks) {
    const together = spacing === "tight" && before && !isFence(before) && !isFence(block);
    if (before && !together) lines.push({ text: "", line: block[0]!.line });
    for (const line of block) lines.push(line);
    before = block;
  }
  return lines;
}

function isFence(block: Block): boolean {
  return block[0]!.text.startsWith("```");
}

function indented(lines: readonly Line[], first: string, others: string): Line[] {
  return lines.map(({ text, line }, index) => ({
    text: text === "" ? text : (index === 0 ? first : others) + text,
    line,
  }));
}

function nonEmpty(lines: Line[]): Block[] {
  return lines.length > 0 ? [lines] : [];
}

/** Escapes a line of prose that looks like a heading, the underline of one, or a fence. */
function asParagraphLine(line: Line): Line {
  return /^(?:#{1,6}\s|```|~~~|(?:-+|=+)$)/.test(line.text) ? { text: `\\${line.text}`, line: line.line } : line;
}
