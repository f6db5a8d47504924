import { createRequire } from "node:module";
import { optionalPackage } from "../optional-package.js";

/** The package that reads spreadsheets, and containers, of programs before 2007. */
type Spreadsheets = typeof import("@e965/xlsx");

/**
 * @throws LoadError (`unsupported`) when it is not installed.
 */
export function spreadsheetPackage(file: { readonly uri: string }): Promise<Spreadsheets> {
  // Only the CommonJS build includes the code pages of old files.
  return optionalPackage("@e965/xlsx", file, () => createRequire(import.meta.url)("@e965/xlsx") as Spreadsheets);
}
