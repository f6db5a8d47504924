/** Longest first line that is taken for the place of a passage in its document rather than for its text, in UTF-16 units. */
const longestPlace = 300;

/** What stands above a passage: its first line when that stands alone, as parts of `Title > Heading`, and its own headings. */
export function headingsOf(text: string): readonly string[] {
  const end = text.indexOf("\n");
  const alone = end > 0 && end <= longestPlace && /^\r?\n[ \t]*\r?\n/.test(text.slice(end, end + 80));
  const place = alone ? text.slice(0, end).split(" > ") : [];
  const own = text.match(/^[ \t]*#{1,6}[ \t]+.*$/gm) ?? [];
  return [...place, ...own.map((line) => line.replace(/^[\s#]+/, "").replace(/\{#[^}]*\}\s*$/, ""))];
}
