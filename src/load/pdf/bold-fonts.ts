import { setImmediate } from "node:timers/promises";
import type { PageLine } from "./page-lines.js";

/** What is asked of an open PDF. */
export interface FontsOfPages {
  readonly getPage: (number: number) => Promise<{
    readonly getOperatorList: () => Promise<unknown>;
    readonly commonObjs: { readonly has: (id: string) => boolean; readonly get: (id: string) => unknown };
    readonly cleanup: () => unknown;
  }>;
}

/** Pages that are read a second time for the names of their fonts: a file with new ones on each would take twice as long. */
const mostPages = 50;

/**
 * Ids of the bold fonts among those that whole lines are in, by their names, which the reader tells only to who paints the
 * page. None where the text itself is bold: then nothing stands out by it.
 */
export async function boldFonts(
  pdf: FontsOfPages,
  pages: readonly (readonly PageLine[])[],
): Promise<ReadonlySet<string>> {
  const body = commonestFont(pages.flat());
  const names = new Map<string, string>();
  let left = mostPages;
  for (const [index, lines] of pages.entries()) {
    const others = lines.filter(({ fonts }) => !fonts.includes(body)).flatMap(({ fonts }) => fonts);
    if (others.every((font) => names.has(font))) continue;
    if (left-- === 0) break;
    const onPage = new Set(lines.flatMap(({ fonts }) => fonts));
    for (const [font, name] of await fontNames(pdf, index + 1, onPage)) names.set(font, name);
  }
  const bold = new Set([...names].flatMap(([font, name]) => (isBoldName(name) ? [font] : [])));
  return bold.has(body) ? new Set() : bold;
}

/** The font that most letters are in: a line that has several counts for each. */
function commonestFont(lines: Iterable<PageLine>): string {
  const letters = new Map<string, number>();
  for (const { fonts, text } of lines) {
    for (const font of fonts) letters.set(font, (letters.get(font) ?? 0) + text.length);
  }
  return [...letters].reduce((best, each) => (each[1] > best[1] ? each : best), ["", 0])[0];
}

async function fontNames(pdf: FontsOfPages, page: number, fonts: Iterable<string>): Promise<Map<string, string>> {
  const found = await pdf.getPage(page);
  await found.getOperatorList();
  // Fonts are ready a few steps of the same turn after the list that names them.
  await setImmediate();
  const names = new Map<string, string>();
  for (const font of fonts) {
    const known = found.commonObjs.has(font) ? found.commonObjs.get(font) : undefined;
    const name = typeof known === "object" && known !== null && "name" in known ? known.name : "";
    names.set(font, typeof name === "string" ? name : "");
  }
  found.cleanup();
  return names;
}

/** The tag of letters before a font of which only some glyphs are in the file. */
const subsetTag = /^[A-Z]{6}\+/u;
const boldNames = [
  /bold|black|heavy|demi/iu,
  // Frutiger-Bd; NimbusRomNo9L-Medi, the bold of the fonts of TeX, and its own: CMBX12, CMSSBX10, SFBX1000.
  /[-,]bd|-medi(?:ital)?$|^cm(?:ss)?b(?:\d|x)|^sf(?:b[ilxt]|rb|sx)\d/iu,
  // Chinese sets headings in a face of its own, Hei. Its name may stand there as the bytes of GBK.
  /simhei|stheiti|fzhei|fzxiaobiaosong|\u{9ed1}\u{4f53}|\u{ba}\u{da}\u{cc}\u{e5}/iu,
];

/** Whether a font is heavier than that of text, by its name: `AAAAAC+TimesNewRomanPS-BoldMT`, `CMBX12`. */
export function isBoldName(name: string): boolean {
  const bare = name.replace(subsetTag, "");
  return boldNames.some((pattern) => pattern.test(bare));
}
