/** A text in the form that quotes are compared in, with the way back. */
export interface ComparableText {
  readonly text: string;
  /** For each UTF-16 unit of `text`: where the character it came from starts and ends in the original. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const markup = new Set("*_`~#|>\\[]");
const quotes = new Set("\"'‘’‚‛“”„‟«»‹›「」『』〝〞`´′″");
const dashes = new Set("-‐‑‒–—―−﹘﹣－");
const plainPunctuation: Readonly<Record<string, string>> = { "。": ".", "、": ",", "…": "...", "・": "·", "⋯": "..." };
const scriptWithoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff65]/u;
/** What NFKD splits off letters: accents and the like. Format characters (soft hyphen, joiners) are no text either. */
const ignored = /[\u0300-\u036f\p{Cf}]/gu;
/** The target of a Markdown link: `](https://…)`. Bounded, so that brackets without end cost no more than their length. */
const linkTarget = /\]\([^()\n]{0,500}\)/gu;

/**
 * Evens out what people and models change without changing what is said: case, width and composition (NFKD), accents,
 * quotes, dashes, runs of white space, Markdown markup and link targets, and white space beside Chinese and Japanese
 * characters, which only comes from wrapped lines. Character by character, so that every place leads back.
 */
export function comparable(original: string): ComparableText {
  let text = "";
  const starts: number[] = [];
  const ends: number[] = [];
  let pendingSpace: { readonly start: number; readonly end: number } | undefined;
  let lastWithoutSpaces = false;
  const targets = [...original.matchAll(linkTarget)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
  let target = 0;

  const emit = (piece: string, start: number, end: number) => {
    text += piece;
    for (let unit = 0; unit < piece.length; unit++) {
      starts.push(start);
      ends.push(end);
    }
  };

  for (let at = 0; at < original.length;) {
    const skipped = targets[target];
    if (skipped && at >= skipped.start) {
      at = skipped.end;
      target++;
      continue;
    }
    const character = String.fromCodePoint(original.codePointAt(at) ?? 0);
    const start = at;
    at += character.length;
    if (/\s/u.test(character)) {
      pendingSpace ??= { start, end: at };
      continue;
    }
    const piece = comparableCharacter(character);
    if (piece === "") continue;
    const withoutSpaces = scriptWithoutSpaces.test(character);
    if (pendingSpace && text !== "" && !withoutSpaces && !lastWithoutSpaces)
      emit(" ", pendingSpace.start, pendingSpace.end);
    pendingSpace = undefined;
    lastWithoutSpaces = withoutSpaces;
    emit(piece, start, at);
  }
  return { text, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) };
}

function comparableCharacter(character: string): string {
  if (quotes.has(character)) return "'";
  if (dashes.has(character)) return "-";
  if (markup.has(character)) return "";
  const plain = plainPunctuation[character];
  if (plain !== undefined) return plain;
  return character.normalize("NFKD").toLowerCase().replace(ignored, "");
}
