import type { WireExcerpt } from "../../../../api/wire.js";
import type { Stretch } from "../place-in-rendering.js";
import { type DrawnSource, element } from "./drawn-source.js";
import { markTexts } from "./mark-texts.js";

export interface RowDrawing {
  readonly excerpt: Pick<WireExcerpt, "uri" | "text" | "from" | "length" | "rows">;
  /** Offsets into the document. */
  readonly highlight: Stretch;
  /** Name of the column with the numbers of rows. */
  readonly rowNumber: string;
}

type Rows = NonNullable<WireExcerpt["rows"]>;
type Row = Rows["rows"][number];

/**
 * A row of a table with the rows around it, the cited one marked, and in it the cited words. `undefined` where the row's text
 * is only seen in part, or is not made of cells.
 */
export function drawRows({ excerpt, highlight, rowNumber }: RowDrawing): DrawnSource | undefined {
  const { columns, rows } = excerpt.rows ?? { columns: [], rows: [] };
  const cited = rows.find(({ uri }) => uri === excerpt.uri);
  if (!cited || excerpt.from > 0 || excerpt.text.length < excerpt.length) return undefined;
  const table = document.createElement("table");
  const marks: HTMLElement[] = [];
  const fill = (cell: HTMLElement, row: Row, name: string) => {
    const { value = "", start } = row.cells.find((each) => each.name === name) ?? {};
    cell.textContent = value;
    if (row !== cited || start === undefined) return;
    const place = { start: Math.max(0, highlight.start - start), end: Math.min(value.length, highlight.end - start) };
    if (place.start < place.end) marks.push(...markTexts(cell, place, () => element("mark")));
  };
  if (rows.length === 1) drawAlone(table, columns, (cell, name) => fill(cell, cited, name));
  else {
    const head = table.createTHead().insertRow();
    for (const name of [rowNumber, ...columns]) head.append(heading("col", name));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      if (row === cited) line.className = "cited-row";
      line.append(heading("row", String(row.number)));
      for (const name of columns) fill(line.insertCell(), row, name);
    }
  }
  const holder = element("div", "block table-rows");
  holder.tabIndex = 0;
  holder.append(table);
  return highlight.end > highlight.start && marks.length === 0 ? undefined : { nodes: [holder], marks };
}

/** A row by itself: its columns below each other. */
function drawAlone(
  table: HTMLTableElement,
  columns: readonly string[],
  fill: (cell: HTMLElement, name: string) => void,
) {
  for (const name of columns) {
    const line = table.insertRow();
    line.append(heading("row", name));
    fill(line.insertCell(), name);
  }
}

function heading(scope: "col" | "row", text: string): HTMLElement {
  const made = element("th", "", text);
  made.setAttribute("scope", scope);
  return made;
}
