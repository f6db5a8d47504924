/** A line in plain letters, or in bold ones. */
export type TinyLine = string | { readonly bold: string };

/** A PDF of lines, one array of them a page, in ten-point Courier. */
export function tinyPdf(pages: readonly (readonly TinyLine[])[], title?: string): Uint8Array {
  const objects: string[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ")}] >>`,
    `<< ${font("Courier")} >>`,
  ];
  for (const lines of pages) {
    const shown = lines.map(shownLine).join("\n");
    const content = `BT 12 TL 50 750 Td\n${shown}\nET`;
    const resources = `/Resources << /Font << /F1 3 0 R /F2 << ${font("Courier-Bold")} >> >> >>`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${objects.length + 2} 0 R ${resources} >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    );
  }
  objects.push(`<< /Title (${title ?? ""}) >>`);
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>`;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  return Buffer.from(`${body}${table}${trailer}\nstartxref\n${body.length}\n%%EOF\n`, "latin1");
}

function font(name: string): string {
  return `/Type /Font /Subtype /Type1 /BaseFont /${name}`;
}

function shownLine(line: TinyLine): string {
  const [name, text] = typeof line === "string" ? ["F1", line] : ["F2", line.bold];
  return `/${name} 10 Tf (${text.replace(/[\\()]/g, "\\$&")}) Tj T*`;
}
