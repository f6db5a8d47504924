import { plainText } from "../../text/blocks/plain-text.js";

/** Markdown as it is read; blocks and items stay apart, also in Chinese, where lines of one paragraph are joined. */
export function asRead(markdown: string): string {
  const blocks = markdown
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*$/gm, "")
    .split(/\n[ \t]*\n|\n(?=[ \t]*(?:[-*+|]|#{1,6}|\d{1,9}[.)])[ \t])/);
  return blocks.map((block) => plainText(block).replace(/(`+)([^`]+)\1/g, "$2")).join(" ");
}
