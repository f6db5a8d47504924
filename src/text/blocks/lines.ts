/** The end of the line that `at` is in, line break included. `\n`, `\r\n` and a lone `\r` end lines. */
export function lineEnd(text: string, offset: number): number {
  for (let end = offset; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === 10) return end + 1;
    if (unit === 13) return text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
  }
  return text.length;
}

/** Whether `text.slice(start, end)` is nothing but white space. */
export function isBlank(text: string, start: number, end: number): boolean {
  for (let offset = start; offset < end; offset++) {
    const unit = text.charCodeAt(offset);
    if (unit > 0x20 && (unit < 0x80 || /\S/.test(text.charAt(offset)))) return false;
    if (unit < 9 || (unit > 13 && unit < 0x20)) return false;
  }
  return true;
}

const tabColumns = 4;
/** Costs of a cut, in columns of indentation: before a line that closes or continues something, or without a blank line. */
const continuationCost = 8;
const noBlankLineCost = 4;

const continues = /[ \t]*(?:[)\]}]|(?:end|else|elif|elsif|except|catch|finally|rescue|ensure|fi|done|esac)\b)/y;

/** How bad a cut before this line of code is, judged by its indentation and by whether a blank line precedes it. */
export function cutCost(text: string, lineStart: number): number {
  let columns = 0;
  let offset = lineStart;
  for (; text.charAt(offset) === " " || text.charAt(offset) === "\t"; offset++) {
    columns += text.charAt(offset) === "\t" ? tabColumns : 1;
  }
  continues.lastIndex = lineStart;
  return (
    columns + (followsBlank(text, lineStart) ? 0 : noBlankLineCost) + (continues.test(text) ? continuationCost : 0)
  );
}

function followsBlank(text: string, lineStart: number): boolean {
  let offset = lineStart - 1;
  if (text.charAt(offset) === "\n" && text.charAt(offset - 1) === "\r") offset--;
  for (offset--; offset >= 0; offset--) {
    const character = text.charAt(offset);
    if (character === "\n" || character === "\r") return true;
    if (character !== " " && character !== "\t") return false;
  }
  return true;
}
