/** A parsed query: the words to search for, and the phrases that hits must and must not contain. */
export interface QuerySyntax {
  /** The words to search for, without signs and exclusions; empty for a query that only excludes. */
  readonly plain: string;
  /** Every hit contains each of these, word for word. */
  readonly phrases: readonly string[];
  /** No hit contains any of these. */
  readonly not: readonly string[];
}

const closers: Readonly<Record<string, string>> = {
  '"': '"“”＂',
  "“": '"“”＂',
  "”": '"“”＂',
  "„": '"“”',
  "＂": '"“”＂',
  "「": "」",
  "『": "』",
};

// A letter of a script with spaces between words: a quotation mark after one closes a quote, or means inches.
const spacedLetter =
  /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}]/u;
const wordOrNumber = /[\p{L}\p{N}]/u;

/** In UTF-16 code units. Bounds the search for the closing quote, so that many open ones do not take quadratic time. */
const maxPhraseLength = 1000;

/**
 * Parses `"exact phrase"`, `-word` and `-"phrase"`. Quotes may be straight, curly or Chinese (“”, 「」, 『』). A hyphen
 * excludes only at the start of a word and before a letter or a quote: not in `well-known`, `--flag`, `-5` or ` - `. A
 * quotation mark that is not closed within 1,000 characters has no meaning. Never throws; a query without signs comes back as
 * it is.
 */
export function parseQuery(text: string): QuerySyntax {
  const phrases = new Set<string>();
  const not = new Set<string>();
  let plain = "";
  for (let index = 0; index < text.length;) {
    const excludes = isExclusion(text, index);
    const start = excludes ? index + 1 : index;
    const quoted = quotedAt(text, start, excludes);
    if (quoted) {
      if (wordOrNumber.test(quoted.inside)) (excludes ? not : phrases).add(quoted.inside.trim());
      if (!excludes) plain += ` ${quoted.inside} `;
      index = quoted.end;
    } else if (excludes) {
      const end = endOfWord(text, start);
      not.add(text.slice(start, end));
      index = end;
    } else plain += text[index++]!;
  }
  if (phrases.size === 0 && not.size === 0) return { plain: text, phrases: [], not: [] };
  if (!wordOrNumber.test(plain)) return { plain: "", phrases: [], not: [...not] };
  return { plain: plain.replace(/\s+/gu, " ").trim(), phrases: [...phrases], not: [...not] };
}

function isExclusion(text: string, index: number): boolean {
  if (text[index] !== "-" && text[index] !== "－") return false;
  if (index > 0 && !/\s/u.test(text[index - 1]!)) return false;
  const next = characterAt(text, index + 1);
  return /\p{L}/u.test(next) || quotedAt(text, index + 1, true) !== undefined;
}

function quotedAt(
  text: string,
  offset: number,
  afterHyphen: boolean,
): { readonly inside: string; readonly end: number } | undefined {
  const closing = closers[text[offset] ?? ""];
  if (closing === undefined) return undefined;
  if (!afterHyphen && offset > 0 && spacedLetter.test(text[offset - 1]!)) return undefined;
  for (let end = offset + 1; end < text.length && end - offset <= maxPhraseLength; end++) {
    if (closing.includes(text[end]!)) return { inside: text.slice(offset + 1, end), end: end + 1 };
  }
  return undefined;
}

/** The end of the last letter or digit before white space or a quotation mark. */
function endOfWord(text: string, start: number): number {
  let end = start;
  for (let index = start; index < text.length && !/\s/u.test(text[index]!) && closers[text[index]!] === undefined;) {
    const character = characterAt(text, index);
    index += character.length;
    if (wordOrNumber.test(character) || /\p{M}/u.test(character)) end = index;
  }
  return end;
}

function characterAt(text: string, offset: number): string {
  return offset < text.length ? String.fromCodePoint(text.codePointAt(offset)!) : "";
}
