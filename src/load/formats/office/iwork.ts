import { LoadError } from "../../../core/errors.js";
import type { Loader } from "../loader.js";
import { loadPdf } from "../pdf/pdf.js";
import { unpack } from "./package.js";
import { sheetsOf } from "./xls.js";

/**
 * Reads a document of Pages or Keynote by the PDF that older versions of them saved beside it as a preview.
 *
 * @throws LoadError (`unsupported`) that says how to convert it where there is none.
 */
export const loadIwork: Loader = async (file, ...how) => {
  const parts = unpack(file, isPreview);
  const preview = parts.paths.map((path) => parts.bytes(path)!).find(({ length }) => length > 0);
  if (preview) return loadPdf({ ...file, bytes: preview }, ...how);
  const { uri } = file;
  const hint = "open it and export it as PDF or Word (File, Export To)";
  throw new LoadError("unsupported", uri, `${uri} is in Apple's own format, and holds no preview as PDF: ${hint}`);
};

/** Reads the tables of a Numbers file, or its preview where it is older than 2013. */
export const loadNumbers: Loader = async (file, ...how) => {
  const isModern = unpack(file, (path) => /\.iwa$|^Index\.zip$/.test(path)).paths.length > 0;
  return isModern ? sheetsOf(file) : loadIwork(file, ...how);
};

function isPreview(path: string): boolean {
  return /(?:^|\/)(?:QuickLook\/)?Preview\.pdf$/i.test(path);
}
