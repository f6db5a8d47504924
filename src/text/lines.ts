/** Behind the line break of the line that `at` is in. `\n`, `\r\n` and a lone `\r` end lines. */
export function lineEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === 10) return end + 1;
    if (unit === 13) return text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
  }
  return text.length;
}

/** Whether `text.slice(start, end)` is white space alone. */
export function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x20 && (unit < 0x80 || /\S/.test(text.charAt(at)))) return false;
    if (unit < 9 || (unit > 13 && unit < 0x20)) return false;
  }
  return true;
}
