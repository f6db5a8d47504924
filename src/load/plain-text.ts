import { decodeText } from "./decode.js";
import type { FileToLoad, LoadedText } from "./loader.js";

/** Text as it stands. */
export function loadPlainText(file: FileToLoad): LoadedText {
  const { text, warning } = decodeText(file, file.charset);
  return { text, mediaType: "text/plain", ...(warning !== undefined && { warnings: [warning] }) };
}
