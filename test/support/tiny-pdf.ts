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
  return pdfOf(objects, `/Info ${objects.length} 0 R`);
}

export interface DrawnPage {
  /** Each text at its place in points, in ten-point Helvetica, in the order in which it is drawn. */
  readonly texts?: readonly (readonly [x: number, y: number, text: string])[];
  /** Annotations of the page, which are the objects from number 6 on. */
  readonly annotations?: readonly string[];
  /** Entries of the catalogue besides the pages. */
  readonly catalog?: string;
}

/** A PDF of one page with texts anywhere on it, and with annotations. */
export function drawnPdf({ texts = [], annotations = [], catalog = "" }: DrawnPage): Uint8Array {
  const content = texts.map(([x, y, text]) => `BT /F1 10 Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`).join("\n");
  const annots = annotations.map((_, index) => `${6 + index} 0 R`).join(" ");
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    "<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
    `<< ${font("Helvetica")} >>`,
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> /Annots [${annots}] >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...annotations.map((annotation) => `<< /Type /Annot /P 4 0 R ${annotation} >>`),
  ]);
}

/** A file of numbered objects, of which the first is the catalogue, in Latin-1. */
export function pdfOf(objects: readonly string[], trailer = ""): Uint8Array {
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>`;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  return Buffer.from(`${body}${table}${end}\nstartxref\n${body.length}\n%%EOF\n`, "latin1");
}

function font(name: string): string {
  return `/Type /Font /Subtype /Type1 /BaseFont /${name}`;
}

function shownLine(line: TinyLine): string {
  const [name, text] = typeof line === "string" ? ["F1", line] : ["F2", line.bold];
  return `/${name} 10 Tf (${escaped(text)}) Tj T*`;
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, "\\$&");
}
