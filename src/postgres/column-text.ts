// oxlint-disable-next-line no-control-regex -- the characters that it replaces
const escaped = /[\0\u0001]|\p{Surrogate}/gu;
// oxlint-disable-next-line no-control-regex -- what it put in their place
const marks = /\u0001([\u0001\u0002]|\u0003[\da-f]{4})/g;

/**
 * A text as a column of PostgreSQL can hold it: no NUL and no half of a surrogate pair. U+0001 introduces what stands for
 * them. The order of bytes stays: what stands for NUL sorts before what stands for U+0001, and both before U+0002.
 */
export function columnText(text: string): string {
  return text.replace(escaped, (unit) => {
    if (unit === "\0") return "\u0001\u0001";
    if (unit === "\u0001") return "\u0001\u0002";
    return `\u0001\u0003${unit.charCodeAt(0).toString(16)}`;
  });
}

/** The text that was written. */
export function originalText(column: string): string {
  if (!column.includes("\u0001")) return column;
  return column.replace(marks, (_, mark: string) => {
    if (mark === "\u0001") return "\0";
    return mark === "\u0002" ? "\u0001" : String.fromCharCode(Number.parseInt(mark.slice(1), 16));
  });
}
