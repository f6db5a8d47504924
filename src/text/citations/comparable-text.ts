/** A text in the form in which quotes are compared, with the way back to the original. */
export interface ComparableText {
  readonly text: string;
  /** For each UTF-16 unit of `text`, the start and end of its character in the original. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const markup = new Set("*_`~#|>\\[]");
const quotes = new Set("\"'‘’‚‛“”„‟«»‹›「」『』〝〞`´′″");
const dashes = new Set("-‐‑‒–—―−﹘﹣－");
const plainPunctuation: Readonly<Record<string, string>> = { "。": ".", "、": ",", "…": "...", "・": "·", "⋯": "..." };
const scriptWithoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff65]/u;
/** Accents and the like, which NFKD splits off letters, and format characters such as soft hyphens and joiners. */
const ignored = /[\u0300-\u036f\p{Cf}]/gu;
/** The target of a Markdown link: `](https://…)`. Bounded, so that many open brackets take linear time. */
const linkTarget = /\]\([^()\n]{0,500}\)/gu;

/**
 * Normalises what people and models change without changing the sense: case, width and composition (NFKD), accents,
 * quotes, dashes, runs of white space, Markdown markup and link targets, and white space beside Chinese and Japanese
 * characters, which only wrapped lines have. Works character by character, so that every place leads back.
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

/** A word with its place, in UTF-16 code units. */
export interface WordSpan {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const cjk = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const wordLetter = `(?:(?![${cjk}])[\\p{L}\\p{N}])`;
const wordPattern = new RegExp(`[${cjk}]|${wordLetter}+(?:'${wordLetter}+|[.,]\\p{N}+)*`, "gu");
const cjkCharacter = new RegExp(`^[${cjk}]$`, "u");

/** Source of a pattern: one letter or digit of a script that puts spaces between its words. */
export const spacedLetter = `(?![${cjk}\\p{Script=Thai}])[\\p{L}\\p{N}]`;

/** The words of a comparable text. `don't` and `1,500` are one word each, and so is every Chinese or Japanese character. */
export function wordsOf(text: string): WordSpan[] {
  return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
}

/** Replaces Chinese and Japanese characters by pairs of neighbours: out of order, single ones say almost nothing. */
export function pairCharacters(words: readonly WordSpan[]): WordSpan[] {
  return words.flatMap((word, index) => {
    if (!cjkCharacter.test(word.word)) return [word];
    const next = words[index + 1];
    const paired = next?.start === word.end && cjkCharacter.test(next.word);
    return paired ? [{ word: word.word + next.word, start: word.start, end: next.end }] : [];
  });
}
