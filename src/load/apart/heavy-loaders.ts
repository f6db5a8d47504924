import { loadDocx } from "../docx.js";
import { loadEpub } from "../epub.js";
import { loadHtml } from "../html.js";
import type { Loader } from "../loader.js";
import { loadOdp } from "../odp.js";
import { loadOds } from "../ods.js";
import { loadOdt } from "../odt.js";
import { loadPdf } from "../pdf.js";
import { loadPptx } from "../pptx.js";
import { loadXlsx } from "../xlsx.js";

/** Loaders that may take long or much memory, whatever they are given: they run where they can be stopped. */
export const heavyLoaders = {
  pdf: loadPdf,
  docx: loadDocx,
  pptx: loadPptx,
  xlsx: loadXlsx,
  odt: loadOdt,
  ods: loadOds,
  odp: loadOdp,
  epub: loadEpub,
  html: loadHtml,
} satisfies Record<string, Loader>;

export type HeavyFormat = keyof typeof heavyLoaders;
