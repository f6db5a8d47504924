import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "./page.js";

/** The table of formats, from the table by which files are read. */
export function formatPage(root: string): Page {
  const source = readFileSync(join(root, "src/load/formats/formats.ts"), "utf8");
  const table = /^const known:[\s\S]*?^\];/m.exec(source)?.[0] ?? "";
  const rows = [...table.matchAll(/"((?:\.[\w+-]+ ?)+)",\s*(?:"([^"]*)"|`([^`]*)`)?/g)].map(
    ([, endings, types, built]) =>
      `| ${codes(endings!)} | ${codes((types ?? built ?? "").replaceAll(/\$\{\w+\}\S*/g, ""))} |`,
  );
  if (rows.length < 15)
    throw new Error(`Only ${rows.length} formats were found in formats.ts: its table has another form now`);
  return {
    path: "documents/formats",
    text: `# Formats

A file is read by its ending, and a page of the web by its media type. \`citewell read FILE\` shows what is read of a file, with the place of each
part and what was left out. Source code and plain text are read by many more endings; a file without an ending is read as plain text. Other files
are listed as skipped, with how to convert them.

Each row of a table (CSV, Excel, Parquet, SQLite) is a document, and so is each file in an archive and each mail in a mailbox. Pages of a PDF and
slides keep their numbers, which citations show. Pictures and scans need a recognizer: see [OCR](/documents/ocr). A loader of your own is passed as
\`loaders\`: see [your own parts](/guides/own-parts).

| endings | media types |
| --- | --- |
${rows.join("\n")}
`,
  };
}

function codes(words: string): string {
  return words
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => `\`${word}\``)
    .join(" ");
}
