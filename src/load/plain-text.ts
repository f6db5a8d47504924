import { decodeText } from "./decode.js";
import type { Loader } from "./loader.js";

/** Text as it stands. */
export const loadPlainText: Loader = (file) => {
  const { text, warning } = decodeText(file);
  return { text, mediaType: "text/plain", ...(warning !== undefined && { warnings: [warning] }) };
};
