/** A part of one piece of a page's text. */
export interface PieceRange {
  /** Index of the piece. */
  readonly piece: number;
  /** Offsets into it, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Letters and digits that must agree for a part of a quotation to be found by itself. */
const minPart = 12;
/** Share of a quotation that must be found for its parts to be shown. */
const minShare = 0.6;

/**
 * The places of a quotation in the text of a page, which a PDF gives in pieces. Only letters and digits are compared, so that
 * hyphens at the ends of lines, ligatures and spaces between pieces make no difference. A quotation that stands in several
 * places is taken where it is expected; one whose order on the page is another, such as that of a table, is found by its parts.
 * Empty when it is not there.
 *
 * @param expected the share of the page's text that stands before it, 0 to 1
 */
export function placesOnPage(quote: string, pieces: readonly string[], expected = 0): readonly PieceRange[] {
  const page = folded(pieces);
  const wanted = folded([quote]).text;
  if (wanted === "") return [];
  const whole = nearest(page.text, wanted, expected * page.text.length);
  if (whole !== undefined) return rangesOf(page, [[whole, whole + wanted.length]]);
  const parts = partsOf(page.text, wanted);
  const found = parts.reduce((sum, [start, end]) => sum + end - start, 0);
  return found >= minShare * wanted.length ? rangesOf(page, parts) : [];
}

/** Every place of a text that is searched for. */
export function searchOnPage(query: string, pieces: readonly string[]): readonly (readonly PieceRange[])[] {
  const page = folded(pieces);
  const wanted = folded([query]).text;
  if (wanted === "") return [];
  return occurrences(page.text, wanted).map((start) => rangesOf(page, [[start, start + wanted.length]]));
}

interface Folded {
  /** Letters and digits alone, in lower case, with ligatures taken apart. */
  readonly text: string;
  /** Where each of its characters comes from. */
  readonly origins: readonly Origin[];
}

interface Origin {
  readonly piece: number;
  readonly start: number;
  readonly end: number;
}

function folded(pieces: readonly string[]): Folded {
  let text = "";
  const origins: Origin[] = [];
  for (const [piece, content] of pieces.entries()) {
    let start = 0;
    for (const character of content) {
      const end = start + character.length;
      for (const plain of character.normalize("NFKC").toLowerCase()) {
        if (!/[\p{L}\p{N}]/u.test(plain)) continue;
        text += plain;
        for (let unit = 0; unit < plain.length; unit++) origins.push({ piece, start, end });
      }
      start = end;
    }
  }
  return { text, origins };
}

function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let index = text.indexOf(wanted); index >= 0; index = text.indexOf(wanted, index + 1)) found.push(index);
  return found;
}

function nearest(text: string, wanted: string, expected: number): number | undefined {
  return occurrences(text, wanted).toSorted((one, other) => Math.abs(one - expected) - Math.abs(other - expected))[0];
}

/** The longest parts of a quotation that the page holds, taken from its beginning on. */
function partsOf(text: string, wanted: string): [number, number][] {
  const parts: [number, number][] = [];
  for (let from = 0; from + minPart <= wanted.length;) {
    const start = text.indexOf(wanted.slice(from, from + minPart));
    if (start < 0) {
      from++;
      continue;
    }
    let length = minPart;
    while (from + length < wanted.length && text[start + length] === wanted[from + length]) length++;
    parts.push([start, start + length]);
    from += length;
  }
  return parts;
}

function rangesOf({ origins }: Folded, stretches: readonly (readonly [number, number])[]): PieceRange[] {
  const ranges: PieceRange[] = [];
  for (const [from, to] of stretches) {
    let last: { piece: number; start: number; end: number } | undefined;
    for (const { piece, start, end } of origins.slice(from, to)) {
      if (last?.piece === piece) last.end = end;
      else ranges.push((last = { piece, start, end }));
    }
  }
  return ranges;
}
