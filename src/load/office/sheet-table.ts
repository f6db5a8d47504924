/** More columns than a table in a text can have; what lies farther out is mostly a stray mark. */
export const mostColumns = 200;

/** A cell's value as it stands in a row of a table. */
export function cellText(value: string): string {
  return value.replace(/\s+/gu, " ").trim().replaceAll("|", "\\|");
}

/** Rows as a Markdown table, the first one its head, without those that are empty; "" where there is no other. */
export function sheetTable(given: readonly (readonly string[])[]): string {
  const rows = given.filter((cells) => cells.some((cell) => cell !== ""));
  const columns = rows.reduce((most, cells) => Math.max(most, cells.length), 0);
  const asRow = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, column) => cells[column] ?? "").join(" | ")} |`;
  const [head, ...body] = rows;
  if (!head) return "";
  return [asRow(head), asRow(Array.from({ length: columns }, () => "---")), ...body.map(asRow)].join("\n");
}
