import type { Document, Json } from "../../../core/types.js";
import type { ScopedKnowledgeBase } from "../../../knowledge-base/options.js";
import type { WireExcerpt } from "../wire.js";

type TableRows = NonNullable<WireExcerpt["rows"]>;
type Cell = TableRows["rows"][number]["cells"][number];

/** Values of the rows around are cut there, in UTF-16 code units. */
const maxNeighbourCharacters = 300;
/** Addresses of rows that are told apart by a number: that of the row or line, or an id that is one. */
const numbered = /^(.*#(?:.*\/)?(?:row=|line=)?)(\d{1,15})$/s;

/**
 * A row of a table among the rows around it, cell by cell; `undefined` for a document that is no row, or whose text is not made
 * of all its columns.
 *
 * @param around rows on each side
 */
export async function tableRowsOf(
  document: Document,
  around: number,
  documents: Pick<ScopedKnowledgeBase, "document">,
): Promise<TableRows | undefined> {
  const own = cellsOf(document);
  const [, base, digits] = numbered.exec(document.uri) ?? [];
  if (!own || base === undefined) return undefined;
  const number = Number(digits);
  const numbers = Array.from({ length: 2 * around + 1 }, (_, index) => number - around + index);
  const read = await Promise.all(
    numbers.map(async (each) => {
      if (each === number) return { number, uri: document.uri, cells: own };
      const row = each < 0 ? undefined : await documents.document(`${base}${each}`);
      const cells = row && row.source === document.source ? cellsOf(row) : undefined;
      return row && cells ? { number: each, uri: row.uri, cells: cells.map(cut) } : undefined;
    }),
  );
  const rows = read.filter((row) => row !== undefined);
  return { columns: rows.reduce<string[]>((columns, { cells }) => merged(columns, cells), []), rows };
}

/**
 * The cells of a row, which its text holds as lines of `name: value`. A value may have several lines: only a name that the
 * row's metadata has, or whose value is the title, begins a cell. `undefined` for any other text. Pure.
 */
export function cellsOf({
  text,
  title,
  metadata = {},
}: Pick<Document, "text" | "title" | "metadata">): Cell[] | undefined {
  const cells: { name: string; value: string; start?: number }[] = [];
  let start = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const [whole, name, value] = /^([^:\n]+): ([^]*)$/.exec(line) ?? [];
    const isCell =
      name !== undefined &&
      !cells.some((cell) => cell.name === name) &&
      (Object.hasOwn(metadata, name) || value!.trim() === title || Object.keys(metadata).length === 0);
    const last = cells.at(-1);
    if (isCell) cells.push({ name, value: value!, start: start + whole!.length - value!.length });
    else if (last) last.value += line;
    else return undefined;
    start += line.length;
  }
  for (const cell of cells.slice(0, -1)) cell.value = cell.value.replace(/\n$/, "");
  // A column that names the row stands in its address instead of its text.
  const names = cells.map(({ name }) => name);
  const others = Object.entries(metadata).filter(([name, value]) => !names.includes(name) && isPlain(value));
  const columns = merged(
    Object.keys(metadata).filter((name) => names.includes(name) || others.some(([other]) => other === name)),
    cells,
  );
  const byName = new Map<string, Cell>(
    others.map(([name, value]) => [name, { name, value: `${value as string | number | boolean}` }]),
  );
  for (const cell of cells) byName.set(cell.name, cell);
  return columns.map((name) => byName.get(name)!);
}

function isPlain(value: Json): boolean {
  return (typeof value === "string" && value.trim() !== "") || typeof value === "number" || typeof value === "boolean";
}

function cut({ name, value }: Cell): Cell {
  return { name, value: value.length > maxNeighbourCharacters ? `${value.slice(0, maxNeighbourCharacters)}…` : value };
}

/** Columns with those of a row, each new one behind the one that it follows there. Pure. */
function merged(columns: readonly string[], cells: readonly Pick<Cell, "name">[]): string[] {
  const all = [...columns];
  for (const [index, { name }] of cells.entries()) {
    if (!all.includes(name)) all.splice(index === 0 ? 0 : all.indexOf(cells[index - 1]!.name) + 1, 0, name);
  }
  return all;
}
