// A PDF draws glyphs, and says of which characters only where the font has a map of them. Without a map the reader hands out
// numbers of glyphs as characters, most of which are none, or nothing at all.

/**
 * Controls, characters of private use and the replacement character, which stand for a glyph whose character is not known; the
 * bullets of the symbol fonts are known.
 */
const unknownCharacter = /(?![\t\n\r\uf06c\uf06e\uf0a7\uf0b7\uf0d8\uf0fc])[\p{Cc}\p{Co}\ufffd\ufffe\uffff]/gu;
const space = /\s/gu;

/**
 * Share of a page's glyphs without a character from which it counts as unreadable. Where a font has no map at all, already the
 * spaces between the words are one in six; a formula has one in twenty or so.
 */
const minUnknownShare = 1 / 8;

/** Counts of a page's characters, with and without a meaning. */
export class GlyphCount {
  #unknown = 0;
  #inked = 0;
  #all = 0;

  /** Counts a text of the page, as the PDF reader has it. */
  add(text: string): void {
    const unknown = text.match(unknownCharacter)?.length ?? 0;
    const spaces = text.match(space)?.length ?? 0;
    this.#unknown += unknown;
    this.#all += text.length;
    this.#inked += text.length - spaces;
  }

  /** Whether the page has no characters, not even spaces. */
  get isEmpty(): boolean {
    return this.#all === 0;
  }

  get isUnreadable(): boolean {
    return this.#unknown > 0 && this.#unknown >= minUnknownShare * this.#inked;
  }
}

/** Whether a page draws any glyph: without characters, its fonts then have no character map. */
export function drawsGlyphs(
  { fnArray, argsArray }: { readonly fnArray: readonly number[]; readonly argsArray: readonly unknown[] },
  operators: Readonly<Record<string, number>>,
): boolean {
  const showing = new Set(
    ["showText", "showSpacedText", "nextLineShowText", "nextLineSetSpacingShowText"].map((name) => operators[name]),
  );
  return fnArray.some((operator, index) => showing.has(operator) && [argsArray[index]].flat(2).some(isInked));
}

/** Among the glyphs of a text stand numbers, which move the next one. */
function isInked(glyph: unknown): boolean {
  return typeof glyph === "object" && glyph !== null && !("isSpace" in glyph && glyph.isSpace === true);
}

/** Numbers in order, with consecutive ones as a range: `3–9, 12`. */
export function ranges(numbers: readonly number[]): string {
  const parts: [first: number, last: number][] = [];
  for (const number of numbers) {
    const open = parts.at(-1);
    if (open?.[1] === number - 1) open[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}
