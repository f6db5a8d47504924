import { find, textOf } from "./html-content.js";
import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";
import type { Line } from "./html-inline.js";

/** More columns than a page can show; a larger `colspan` is a mistake. */
const mostColumns = 100;

/** Rows of a table, without those of tables inside it. */
export function rowsOf(table: HtmlElement): HtmlElement[] {
  return find(table, ({ name }) => name === "tr" || name === "table").filter(({ name }) => name === "tr");
}

export function cellsOf(row: HtmlElement): HtmlElement[] {
  return row.children.filter(
    (child) => !isText(child) && (child.name === "td" || child.name === "th"),
  ) as HtmlElement[];
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

/** Code of several lines: no row of a table can hold it. */
function isListing(element: HtmlElement): boolean {
  if (element.name !== "pre") return false;
  return textOf(element).trim().includes("\n") || find(element, ({ name }) => name === "br").length > 0;
}

/** The same nodes, code that stands in a block of its own as code in a line. */
export function inOneLine(nodes: readonly HtmlNode[]): HtmlNode[] {
  return nodes.map((node) => {
    if (isText(node)) return node;
    return { ...node, name: node.name === "pre" ? "code" : node.name, children: inOneLine(node.children) };
  });
}

/** Whether a cell holds the numbers of the lines of code that stand beside it. */
export function isGutter(cell: HtmlElement): boolean {
  return find(cell, ({ name }) => name === "pre").length > 0 && /^[\d\s]*$/.test(textOf(cell));
}

/**
 * A table as Markdown rows, the first one its head. A cell over several rows is said in each, so that a row can be read
 * alone; one over several columns is said in the first.
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
      const text = lines
        .map((each) => each.text.trim())
        .join(" ")
        .replaceAll("|", "\\|");
      const rowsBelow = span(cell, "rowspan") - 1;
      for (let column = 0; column < span(cell, "colspan") && cells.length < mostColumns; column++) {
        below[cells.length] = { text: column === 0 ? text : "", rows: rowsBelow };
        cells.push(column === 0 ? text : "");
      }
    }
    fillFromAbove();
    fromAbove = below;
    if (cells.some((text) => text !== "")) rows.push({ cells, line: line ?? row.line });
  }
  const [head, ...body] = rows;
  if (!head) return [];
  const columns = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const asRow = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, column) => cells[column] ?? "").join(" | ")} |`;
  return [
    { text: asRow(head.cells), line: head.line },
    { text: asRow(Array.from({ length: columns }, () => "---")), line: head.line },
    ...body.map(({ cells, line }) => ({ text: asRow(cells), line })),
  ];
}

function span({ attributes }: HtmlElement, name: "rowspan" | "colspan"): number {
  const value = Number.parseInt(attributes[name] ?? "1", 10);
  return value >= 1 ? Math.min(value, 65_534) : 1;
}
