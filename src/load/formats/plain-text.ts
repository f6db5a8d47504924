import { extname } from "node:path";
import { declaredInXml, decodeText, latin1Start } from "./decode.js";
import type { FileToLoad, LoadedText } from "./loader.js";
import { languages } from "./programming-languages.js";

/** Reads text and source code unchanged, so that its lines are the file's; the media type names the language: `text/x-python`. */
export function loadPlainText(file: FileToLoad): LoadedText {
  const language = languages.get(extname(file.path).toLowerCase());
  const declared = language === "xml" ? declaredInXml(latin1Start(file.bytes)) : undefined;
  const { text, warning } = decodeText(file, file.charset ?? declared);
  const mediaType = language === undefined ? "text/plain" : `text/x-${language}`;
  return { text, mediaType, ...(warning !== undefined && { warnings: [warning] }) };
}
