import { setImmediate } from "node:timers/promises";
import { commonest, type PageLine } from "./page-lines.js";

/** The part of the PDF reader that is used here. */
export interface FontsOfPages {
  readonly getPage: (number: number) => Promise<{
    readonly getOperatorList: () => Promise<unknown>;
    readonly commonObjs: { readonly has: (id: string) => boolean; readonly get: (id: string) => unknown };
    readonly cleanup: () => unknown;
  }>;
}

/** Pages that are read a second time for the names of their fonts, at most: all of them would take twice as long. */
const maxPages = 50;

/**
 * Finds the bold fonts among those of whole lines, by their names, which the reader gives only to code that paints the page.
 * Returns none where the text itself is bold: then bold letters do not stand out.
 */
export async function boldFonts(
  pdf: FontsOfPages,
  pages: readonly (readonly PageLine[])[],
): Promise<ReadonlySet<string>> {
  // A line with several fonts counts for each.
  const letters = pages.flat().flatMap(({ fonts, text }) => fonts.map((font) => [font, text.length] as const));
  const body = commonest(letters) ?? "";
  const names = new Map<string, string>();
  let left = maxPages;
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

async function fontNames(pdf: FontsOfPages, page: number, fonts: Iterable<string>): Promise<Map<string, string>> {
  const found = await pdf.getPage(page);
  await found.getOperatorList();
  // Fonts are ready a few microtasks after the list that names them.
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

/** The tag before the name of a font that the file embeds only in part. */
const subsetTag = /^[A-Z]{6}\+/u;
const boldNames = [
  /bold|black|heavy|demi/iu,
  // Frutiger-Bd; NimbusRomNo9L-Medi, the bold of the fonts of TeX, and its own: CMBX12, CMSSBX10, SFBX1000.
  /[-,]bd|-medi(?:ital)?$|^cm(?:ss)?b(?:\d|x)|^sf(?:b[ilxt]|rb|sx)\d/iu,
  // Chinese sets headings in a face of its own, Hei. Its name may be given as the bytes of GBK.
  /simhei|stheiti|fzhei|fzxiaobiaosong|\u{9ed1}\u{4f53}|\u{ba}\u{da}\u{cc}\u{e5}/iu,
];

/** Whether a font is bold by its name: `AAAAAC+TimesNewRomanPS-BoldMT`, `CMBX12`. */
export function isBoldName(name: string): boolean {
  const bare = name.replace(subsetTag, "");
  return boldNames.some((pattern) => pattern.test(bare));
}
