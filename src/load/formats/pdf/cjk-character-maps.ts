/** Character collections of Chinese, Japanese and Korean fonts, and the encodings that fonts name instead of a table. */
const collections = [
  ["GB1", "gbk", /^(?:GBKp?-EUC|GBK2K|GB-EUC|GBpc-EUC)-[HV]$/, /^UniGB-(?:UCS2|UTF16)-[HV]$/],
  ["CNS1", "big5", /^(?:B5pc|ETen(?:ms)?-B5|HKscs-B5)-[HV]$/, /^UniCNS-(?:UCS2|UTF16)-[HV]$/],
  [
    "Japan1",
    "shift_jis",
    /^(?:90(?:ms|msp|pv)|83pv|Add|Ext)-RKSJ-[HV]$/,
    /^UniJIS(?:2004)?-(?:UCS2(?:-HW)?|UTF16)-[HV]$/,
  ],
  ["Korea1", "euc-kr", /^(?:KSC-EUC|KSCms-UHC(?:-HW)?|KSCpc-EUC)-[HV]$/, /^UniKS-(?:UCS2|UTF16)-[HV]$/],
] as const;

/** Glyph numbers from here on are free in all four collections, of which the largest ends before 31,000. */
const firstNumber = 0x8000;

/**
 * Makes a character map, in the language of PDF, for a font that is not in the file; `undefined` for one that needs tables
 * that we do not have. A PDF maps codes to glyph numbers and those to characters; for text the numbers in between need only
 * agree, so they are given out in the order of the codes, where no real glyph has one.
 *
 * @param name as the PDF gives it, `GBK-EUC-H`, or `Adobe-GB1-UCS2` for the map from glyphs to characters
 */
export function cjkCharacterMap(name: string): string | undefined {
  for (const [collection, label, codes, unicode] of collections) {
    if (name === `Adobe-${collection}-UCS2`) return glyphsToCharacters(label);
    if (codes.test(name)) return codesToGlyphs(label);
    if (unicode.test(name)) return charactersToGlyphs(label);
  }
  return undefined;
}

interface Code {
  /** Hexadecimal, of one byte or two. */
  readonly code: string;
  readonly character: number;
}

/** All codes of an encoding for characters of one UTF-16 unit, in order. */
function codesOf(label: string): Code[] {
  const decoder = new TextDecoder(label, { fatal: true });
  const codes: Code[] = [];
  const add = (...bytes: readonly number[]) => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if (text.length === 1) codes.push({ code: Buffer.from(bytes).toString("hex"), character: text.charCodeAt(0) });
    } catch {
      // No character has this code.
    }
  };
  for (let byte = 0x20; byte <= 0xff; byte++) add(byte);
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) add(lead, trail);
  }
  return codes;
}

function codesToGlyphs(label: string): string {
  const entries = codesOf(label).map(({ code }, index) => `<${code}> ${firstNumber + index}`);
  // Bytes from 0xa0 to 0xdf are half-width katakana in Shift JIS, and the first of two elsewhere.
  const spaces =
    label === "shift_jis"
      ? ["<00> <80>", "<a0> <df>", "<8140> <9ffc>", "<e040> <fcfc>"]
      : ["<00> <80>", "<8140> <fefe>"];
  return characterMap(spaces, "cidchar", entries);
}

function glyphsToCharacters(label: string): string {
  const entries = codesOf(label).map(({ character }, index) => `<${hex(firstNumber + index)}> <${hex(character)}>`);
  const ranges = [`${realGlyphs.length} beginbfrange`, ...realGlyphs, "endbfrange"];
  return characterMap(["<0000> <ffff>"], "bfchar", entries, ranges);
}

/**
 * Real glyph numbers, which come from fonts that name no encoding. The first 95 are ASCII in all collections; the others
 * map to private-use characters, because a glyph without a map is taken for the character of its number.
 */
const realGlyphs: readonly string[] = (() => {
  const [first, size] = [0xe000, 0x1900];
  const ranges = ["<0001> <005f> <0020>"];
  for (let low = 0x60; low < firstNumber; low += size) {
    ranges.push(`<${hex(low)}> <${hex(Math.min(low + size, firstNumber) - 1)}> <${hex(first)}>`);
  }
  return ranges;
})();

function charactersToGlyphs(label: string): string {
  const entries = codesOf(label).map(({ character }, index) => `<${hex(character)}> ${firstNumber + index}`);
  return characterMap(["<0000> <ffff>"], "cidchar", entries);
}

function hex(number: number): string {
  return number.toString(16).padStart(4, "0");
}

function characterMap(
  codeSpaces: readonly string[],
  kind: "cidchar" | "bfchar",
  entries: readonly string[],
  ranges: readonly string[] = [],
): string {
  return [
    "begincmap",
    `${codeSpaces.length} begincodespacerange`,
    ...codeSpaces,
    "endcodespacerange",
    ...ranges,
    `${entries.length} begin${kind}`,
    ...entries,
    `end${kind}`,
    "endcmap",
  ].join("\n");
}
