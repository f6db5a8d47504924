import type { Line } from "./inline.js";
import {
  elementsOf,
  elementWith,
  find,
  isText,
  named,
  textOf,
  type HtmlElement,
  type HtmlNode,
} from "../element-tree.js";

/** More columns than a page can show; a larger `colspan` is a mistake. */
const maxColumns = 100;

/** Rows of a table, without those of tables inside it. */
export function rowsOf(table: HtmlElement): HtmlElement[] {
  return named(table, "tr", "table").filter(({ name }) => name === "tr");
}

export function cellsOf(row: HtmlElement): HtmlElement[] {
  return elementsOf(row).filter(({ name }) => name === "td" || name === "th");
}

/** Whether a table puts parts of a page beside each other instead of holding data. */
export function isLayout(table: HtmlElement): boolean {
  const role = table.attributes["role"];
  if (role === "presentation" || role === "none") return true;
  if (find(table, ({ name }) => name === "table" || /^h[1-6]$/.test(name)).length > 0) return true;
  const rows = rowsOf(table);
  // Code beside the numbers of its lines.
  if (rows.length === 1 && find(table, isListing).length > 0) return true;
  return rows.every((row) => cellsOf(row).length <= 1);
}

/** Whether an element is code of several lines, which no row of a table can hold. */
function isListing(element: HtmlElement): boolean {
  if (element.name !== "pre") return false;
  return textOf(element).trim().includes("\n") || named(element, "br").length > 0;
}

/** The same nodes with code blocks as inline code. */
export function inOneLine(nodes: readonly HtmlNode[]): HtmlNode[] {
  return nodes.map((node) => {
    if (isText(node)) return node;
    return elementWith(node, { name: node.name === "pre" ? "code" : node.name, children: inOneLine(node.children) });
  });
}

/** Whether a cell holds only the line numbers of the code beside it. */
export function isGutter(cell: HtmlElement): boolean {
  return named(cell, "pre").length > 0 && /^[\d\s]*$/.test(textOf(cell));
}

/**
 * A table as Markdown rows, the first one its head. A cell over several rows is repeated in each, so that a row can be read
 * alone; one over several columns stands in the first.
 */
export function tableLines(table: HtmlElement, linesOf: (cell: HtmlElement) => readonly Line[]): Line[] {
  const rows: { cells: string[]; line: number }[] = [];
  let fromAbove: { text: string; rows: number }[] = [];
  for (const row of rowsOf(table)) {
    const cells: string[] = [];
    const below: typeof fromAbove = [];
    let line: number | undefined;
    const fillFromAbove = () => {
      for (let above = fromAbove[cells.length]; above && above.rows > 0; above = fromAbove[cells.length]) {
        below[cells.length] = { text: above.text, rows: above.rows - 1 };
        cells.push(above.text);
      }
    };
    for (const cell of cellsOf(row)) {
      fillFromAbove();
      const lines = linesOf(cell).filter(({ text }) => text !== "");
      line ??= lines[0]?.line;
      const text = escapeCell(lines.map((currentLine) => currentLine.text.trim()).join(" "));
      const rowsBelow = span(cell, "rowspan") - 1;
      for (let column = 0; column < span(cell, "colspan") && cells.length < maxColumns; column++) {
        below[cells.length] = { text: column === 0 ? text : "", rows: rowsBelow };
        cells.push(column === 0 ? text : "");
      }
    }
    fillFromAbove();
    fromAbove = below;
    if (cells.some((text) => text !== "")) rows.push({ cells, line: line ?? row.line });
  }
  // The rule below the head stands at the line of the head.
  const lines = rows.flatMap((row, index) => (index === 0 ? [row.line, row.line] : [row.line]));
  return markdownRows(rows.map(({ cells }) => cells)).map((text, index) => ({ text, line: lines[index]! }));
}

/** The lines of a Markdown table, the first row its head; shorter rows are filled up. */
export function markdownRows(rows: readonly (readonly string[])[]): string[] {
  const [head, ...body] = rows;
  if (!head) return [];
  const columns = rows.reduce((most, cells) => Math.max(most, cells.length), 0);
  const asRow = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, column) => cells[column] ?? "").join(" | ")} |`;
  return [asRow(head), asRow(Array.from({ length: columns }, () => "---")), ...body.map(asRow)];
}

/** Keeps a bar in a cell from starting the next one. */
export function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function span({ attributes }: HtmlElement, name: "rowspan" | "colspan"): number {
  const value = Number.parseInt(attributes[name] ?? "1", 10);
  return value >= 1 ? Math.min(value, 65_534) : 1;
}
