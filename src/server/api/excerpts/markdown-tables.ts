/** A longer row is cut, and then read as text. In UTF-16 code units. */
const maxRowCharacters = 20_000;
const rule = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Where an excerpt that should begin at an offset begins, so that it cuts no row of a table, nor a table's head. Pure. */
export function wholeRowsFrom(text: string, offset: number): number {
  const line = lineStart(text, offset);
  if (text[line] !== "|" || offset - line > maxRowCharacters) return offset;
  const head = headOf(text, line);
  return head && line < head.end ? head.start : line;
}

/** Where an excerpt that should end at an offset ends, so that it cuts no row of a table. Pure. */
export function wholeRowsTo(text: string, offset: number): number {
  const line = lineStart(text, offset);
  if (text[line] !== "|") return offset;
  const end = text.indexOf("\n", offset);
  const whole = end < 0 ? text.length : end;
  return whole - offset > maxRowCharacters ? offset : whole;
}

/** The head and the rule of the table that the row at an offset belongs to, where they stand above it. Pure. */
export function tableHeadAbove(text: string, offset: number): string | undefined {
  if (text[offset] !== "|") return undefined;
  const head = headOf(text, offset);
  return head && head.end <= offset ? text.slice(head.start, head.end) : undefined;
}

/** The head of the table that holds a line, with the rule below and its line break. */
function headOf(text: string, line: number): { readonly start: number; readonly end: number } | undefined {
  const gap = text.lastIndexOf("\n\n", line);
  let start = gap < 0 ? 0 : gap + 2;
  // The line at the offset may be the head itself, whose rule is below.
  while (start <= line) {
    const end = lineEnd(text, start);
    const below = lineEnd(text, end);
    if (below === end) return undefined;
    if (text[start] === "|" && rule.test(text.slice(end, below).trimEnd())) return { start, end: below };
    start = end;
  }
  return undefined;
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Offset behind the line break of the line that an offset is in. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}
