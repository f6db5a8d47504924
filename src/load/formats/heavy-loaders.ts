import type { Loader } from "./loader.js";
import type { pagePictures as PagePictures } from "./pdf/page-pictures.js";

export type { PagePicture } from "./pdf/page-pictures.js";

/**
 * Loaders that may take long or much memory: they run in a process, which can be ended. It reads files of one format mostly,
 * and loads the code of those alone: loading all takes 300 ms.
 */
export const heavyLoaders = {
  pdf: async (...given) => (await import("./pdf/pdf.js")).loadPdf(...given),
  "pdf-with-scans": async (...given) => (await import("./pdf/pdf.js")).loadPdfWithScans(...given),
  docx: async (...given) => (await import("./office/docx.js")).loadDocx(...given),
  pptx: async (...given) => (await import("./office/slides.js")).loadPptx(...given),
  xlsx: async (...given) => (await import("./office/xlsx.js")).loadXlsx(...given),
  odt: async (...given) => (await import("./office/odt.js")).loadOdt(...given),
  ods: async (...given) => (await import("./office/ods.js")).loadOds(...given),
  odp: async (...given) => (await import("./office/slides.js")).loadOdp(...given),
  epub: async (...given) => (await import("./office/epub.js")).loadEpub(...given),
  rtf: async (...given) => (await import("./office/rtf.js")).loadRtf(...given),
  doc: async (...given) => (await import("./office/doc.js")).loadDoc(...given),
  xls: async (...given) => (await import("./office/xls.js")).loadXls(...given),
  ppt: async (...given) => (await import("./office/ppt.js")).loadPpt(...given),
  iwork: async (...given) => (await import("./office/iwork.js")).loadIwork(...given),
  numbers: async (...given) => (await import("./office/iwork.js")).loadNumbers(...given),
  eml: async (...given) => (await import("./mail/eml.js")).loadEml(...given),
  msg: async (...given) => (await import("./office/msg.js")).loadMsg(...given),
  parquet: async (...given) => (await import("./rows/parquet.js")).loadParquet(...given),
  sqlite: async (...given) => (await import("./rows/sqlite-tables.js")).loadSqlite(...given),
  html: async (file) => (await import("./html/html.js")).loadHtml(file),
  rst: async (file) => (await import("./markup/restructured-text.js")).loadRestructuredText(file),
  asciidoc: async (...given) => (await import("./markup/asciidoc.js")).loadAsciidoc(...given),
  org: async (file) => (await import("./markup/org.js")).loadOrg(file),
  xml: async (file) => (await import("./markup/documentation-xml.js")).loadXml(file),
  notebook: async (file) => (await import("./markup/notebook.js")).loadNotebook(file),
  latex: async (file) => (await import("./markup/latex.js")).loadLatex(file),
  yaml: async (file) => (await import("./markup/openapi.js")).loadYaml(file),
} satisfies Record<string, Loader>;

export type HeavyFormat = keyof typeof heavyLoaders;

/** The pictures on each of some pages of a PDF, as PNG. */
export const pagePictures: typeof PagePictures = async (...given) =>
  (await import("./pdf/page-pictures.js")).pagePictures(...given);
