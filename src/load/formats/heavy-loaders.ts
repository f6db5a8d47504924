import { loadDoc } from "./office/doc.js";
import { loadDocx } from "./office/docx.js";
import { loadAsciidoc } from "./markup/asciidoc.js";
import { loadLatex } from "./markup/latex.js";
import { loadYaml } from "./markup/openapi.js";
import { loadNotebook } from "./markup/notebook.js";
import { loadOrg } from "./markup/org.js";
import { loadXml } from "./markup/documentation-xml.js";
import { loadEpub } from "./office/epub.js";
import { loadHtml } from "./html/html.js";
import { loadIwork, loadNumbers } from "./office/iwork.js";
import { loadEml } from "./mail/eml.js";
import { loadMsg } from "./mail/msg.js";
import type { Loader } from "./loader.js";
import { loadOds } from "./office/ods.js";
import { loadOdt } from "./office/odt.js";
import { loadParquet } from "./rows/parquet.js";
import { loadPdf, loadPdfWithScans } from "./pdf/pdf.js";
import { loadRestructuredText } from "./markup/restructured-text.js";
import { loadSqlite } from "./rows/sqlite-tables.js";
import { loadOdp, loadPptx } from "./office/slides.js";
import { loadPpt } from "./office/ppt.js";
import { loadRtf } from "./office/rtf.js";
import { loadXls } from "./office/xls.js";
import { loadXlsx } from "./office/xlsx.js";

export { pagePictures } from "./pdf/page-pictures.js";

/** Loaders that may take long or much memory: they run in a process, which can be ended. */
export const heavyLoaders = {
  pdf: loadPdf,
  "pdf-with-scans": loadPdfWithScans,
  docx: loadDocx,
  pptx: loadPptx,
  xlsx: loadXlsx,
  odt: loadOdt,
  ods: loadOds,
  odp: loadOdp,
  epub: loadEpub,
  rtf: loadRtf,
  doc: loadDoc,
  xls: loadXls,
  ppt: loadPpt,
  iwork: loadIwork,
  numbers: loadNumbers,
  eml: loadEml,
  msg: loadMsg,
  parquet: loadParquet,
  sqlite: loadSqlite,
  html: loadHtml,
  rst: loadRestructuredText,
  asciidoc: loadAsciidoc,
  org: loadOrg,
  xml: loadXml,
  notebook: loadNotebook,
  latex: loadLatex,
  yaml: loadYaml,
} satisfies Record<string, Loader>;

export type HeavyFormat = keyof typeof heavyLoaders;
