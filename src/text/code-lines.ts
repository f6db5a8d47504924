import { lineEnd } from "./lines.js";

/** In columns: a line that ends or goes on with something, or that no blank line stands before, is cut before as unwillingly as one that is indented so far. */
const unwilling = 8;
const notBehindBlank = 4;
const tabColumns = 4;

const goesOn = /[ \t]*(?:[)\]}]|(?:end|else|elif|elsif|except|catch|finally|rescue|ensure|fi|done|esac)\b)/y;

/** How ill a place a line of code is to cut before: by its indentation, and whether a blank line stands before it. */
export function cutCost(text: string, lineStart: number): number {
  let columns = 0;
  let at = lineStart;
  for (; text.charAt(at) === " " || text.charAt(at) === "\t"; at++)
    columns += text.charAt(at) === "\t" ? tabColumns : 1;
  goesOn.lastIndex = lineStart;
  return columns + (isBehindBlank(text, lineStart) ? 0 : notBehindBlank) + (goesOn.test(text) ? unwilling : 0);
}

/** Whether a line begins something of its own: not indented, behind a blank line, and going on with nothing. */
export function beginsCode(text: string, lineStart: number): boolean {
  return cutCost(text, lineStart) === 0 && lineEnd(text, lineStart) > lineStart + 1;
}

function isBehindBlank(text: string, lineStart: number): boolean {
  let at = lineStart - 1;
  if (text.charAt(at) === "\n" && text.charAt(at - 1) === "\r") at--;
  for (at--; at >= 0; at--) {
    const sign = text.charAt(at);
    if (sign === "\n" || sign === "\r") return true;
    if (sign !== " " && sign !== "\t") return false;
  }
  return true;
}
