import type { Block } from "./block.js";
import { longestStart, shorten } from "./cut-text.js";

/** In UTF-16 code units: whoever writes longer headings meant a paragraph. */
const longestName = 200;

/** For each block the headings it stands under, outermost first; a heading does not stand under itself. */
export function headingPaths(blocks: readonly Block[]): (readonly string[])[] {
  let open: readonly { readonly level: number; readonly title: string }[] = [];
  let path: readonly string[] = [];
  return blocks.map(({ kind, level = 1, title = "" }) => {
    if (kind !== "heading") return path;
    const above = open.filter((heading) => heading.level < level);
    open = [...above, { level, title }];
    path = open.map((heading) => heading.title);
    return above.map((heading) => heading.title);
  });
}

/**
 * `Title > Outer heading > Inner heading`, as much of it as fits: title and innermost heading are kept longest, and the
 * innermost is cut before it is given up.
 */
export function contextLine(
  title: string | undefined,
  path: readonly string[],
  fits: (line: string) => boolean,
): string {
  const names = [title ?? "", ...path]
    .map((name) => shorten(name.replace(/\s+/g, " ").trim(), longestName))
    .filter((name, index, all) => name !== "" && name !== all[index - 1]);
  for (; names.length > 1; names.splice(names.length > 2 ? 1 : 0, 1)) {
    const line = names.join(" > ");
    if (fits(line)) return line;
  }
  return longestStart(names[0] ?? "", fits).trim();
}
