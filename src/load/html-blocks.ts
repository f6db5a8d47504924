import { find, textOf } from "./html-content.js";
import { inlineLine, inlineLines, verbatimLines, type Line } from "./html-inline.js";
import { cellsOf, inOneLine, isGutter, isLayout, rowsOf, tableLines } from "./html-table.js";
import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";

/** Lines that stand together; between two blocks there is an empty line. */
export type Block = readonly Line[];

const blockNames: ReadonlySet<string> = new Set(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol optgroup p pre search section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

/** Signs and words that lead to a heading itself and say nothing. */
const permalink = /^(?:[¶#§🔗\s]*|permalink|link to this (?:heading|section))$/iu;

/** Lists and quotations deeper than this stand beside one another: each level adds to every line in it. */
const deepestIndentation = 16;

/** What nodes say, as blocks of Markdown. `depth`: lists and quotations that they stand in. */
export function blocksOf(nodes: readonly HtmlNode[], depth = 0): Block[] {
  const blocks: Block[] = [];
  let inline: HtmlNode[] = [];
  const flush = () => {
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

const indenting: ReadonlySet<string> = new Set(["ul", "ol", "dl", "blockquote"]);

function holdsBlocks(element: HtmlElement): boolean {
  return blockNames.has(element.name) || element.children.some((child) => !isText(child) && holdsBlocks(child));
}

function blocksOfElement(element: HtmlElement, depth: number): Block[] {
  switch (depth < deepestIndentation || !indenting.has(element.name) ? element.name : "div") {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return heading(element);
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
    const mark = list.name === "ol" ? `${number++}. ` : "- ";
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
  const isWritten = ({ text }: Line) => text.trim() !== "";
  const lines = all.slice(Math.max(0, all.findIndex(isWritten)), all.findLastIndex(isWritten) + 1);
  const [first] = lines;
  if (!first) return [];
  const code = find(element, ({ name }) => name === "code")[0];
  const classes = `${code?.attributes["class"] ?? ""} ${element.attributes["class"] ?? ""}`;
  const language = /(?:^|\s)(?:language|lang)-([\w+#.-]+)/.exec(classes)?.[1] ?? "";
  const runs = lines.flatMap(({ text }) => text.match(/`+/g) ?? []);
  const mark = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return [{ text: mark + language, line: first.line }, ...lines, { text: mark, line: lines.at(-1)!.line }];
}

function tableBlocks(table: HtmlElement, depth: number): Block[] {
  if (rowsOf(table).length === 0) return blocksOf(table.children, depth);
  const caption = find(table, ({ name }) => name === "caption" || name === "table").filter(
    ({ name }) => name === "caption",
  );
  const said = caption.flatMap(({ children }) => blocksOf(children, depth));
  if (isLayout(table)) {
    const cells = rowsOf(table).flatMap((row) => cellsOf(row).filter((cell) => !isGutter(cell)));
    return [...said, ...cells.flatMap(({ children }) => blocksOf(children, depth))];
  }
  return [
    ...said,
    ...nonEmpty(tableLines(table, ({ children }) => joined(blocksOf(inOneLine(children), depth), "tight"))),
  ];
}

/** Blocks as lines with an empty one between each two; `tight`: none, but around code. */
export function joined(blocks: readonly Block[], spacing: "tight" | "loose" = "loose"): Line[] {
  return blocks.flatMap((block, index) => {
    const before = blocks[index - 1];
    const together = spacing === "tight" && before && !isFence(before) && !isFence(block);
    return before && !together ? [{ text: "", line: block[0]!.line }, ...block] : block;
  });
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

/** A line of prose that happens to look like a heading, the line under one, or a fence is kept from being it. */
function asParagraphLine({ text, line }: Line): Line {
  return { text: /^(?:#{1,6}\s|```|~~~|(?:-+|=+)$)/.test(text) ? `\\${text}` : text, line };
}
