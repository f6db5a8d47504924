/** A word, number or symbol of a text, as citations are compared. */
export interface MeaningfulWord {
  /** The same for all typographic variants of it. */
  readonly form: string;
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Whether it belongs to the word before it, as the parts of `5%`, `C++` and `non-smoker` do: nobody may quote half of them. */
  readonly joined: boolean;
  /** Whether it is a character of a script that puts no spaces between words. */
  readonly unspaced: boolean;
}

const unspaced =
  "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const dash = "[-‐‑‒–—―−﹘﹣－]";
const dashes = new RegExp(dash, "gu");
const sign = "(?<![\\p{L}\\p{M}\\p{N}])[-‐‑–−﹣－]";
const letter = `(?:(?![${unspaced}])\\p{L})`;
const thousands = "\\p{Nd}{1,3}(?:[ \\u00a0\\u2009\\u202f'’]\\p{Nd}{3}(?!\\p{Nd}))+";
/** Bounded for the sake of the regular expression's stack; the rest of a longer word is another one, joined to it. */
const restOfWord = `(?:${letter}|[\\p{M}\\p{Cf}]|[*\`]{1,3}(?=${letter})){0,400}`;

// In order: what is passed over, then one group each for characters of unspaced scripts, words, numbers and symbols.
// Asterisks and backticks within a word are markup, but "2*3" is no 23. A sign before a number, and what joins digits, is
// part of the number.
const parts = [
  `(?<=[\\n\\r])[ \\t>]*[>#]+|~~`,
  `((?=[\\p{L}\\p{N}])[${unspaced}][\\p{M}\\p{Cf}\\uff9e\\uff9f]*)`,
  `(${letter}${restOfWord}(?:(?<=[nN])['’ʼ＇][tT](?!${letter}))?)`,
  `((?:${sign})?(?:(?<!\\p{Nd})${thousands}|\\p{Nd}+)(?:(?:[.,:/．：]|${dash}| [-–−] )\\p{Nd}+)*)`,
  `((?:[\\p{No}\\p{Nl}%％‰°&＆@＠/／§^′″#＃]|(?![|｜])[\\p{Sm}\\p{Sc}\\p{So}]|(?<=\\p{Nd} ?)\\*(?= ?\\p{Nd}))\\p{M}*)`,
].join("|");
const pattern = new RegExp(parts, "gu");
// Targets of links are not read. Bounded, so that many open brackets take linear time.
const patternWithoutTargets = new RegExp(`\\]\\([^()\\n]{0,500}\\)|${parts}`, "gu");

const joiningSymbol = /^[\p{Sc}\p{No}%％‰°±≤≥~^+#＃′″℃℉]/u;
const joiningGap = /^[*`\p{Cf}]{0,4}$|^[-‐‑]$/u;

/**
 * The words, numbers and symbols of a text in order: all that carries meaning. Case, width, composition (NFKD), white space,
 * punctuation and Markdown markup are evened out or left out; accents, signs of numbers and currency stay.
 */
export function meaningfulWords(text: string, { linkTargets = false } = {}): MeaningfulWord[] {
  const words: MeaningfulWord[] = [];
  let previous: { readonly end: number; readonly joins: boolean } | undefined;
  for (const match of text.matchAll(linkTargets ? pattern : patternWithoutTargets)) {
    const [written, character, word, number, symbol] = match;
    if (character === undefined && word === undefined && number === undefined && symbol === undefined) continue;
    const start = match.index;
    const end = start + written.length;
    const joins = character === undefined && (symbol === undefined || joiningSymbol.test(symbol));
    const joined = joins && previous?.joins === true && joiningGap.test(text.slice(previous.end, start));
    const form = formOf(written);
    // Some symbols are abbreviations: ㎏, ℃.
    const forms = symbol !== undefined && /\p{L}/u.test(form) ? meaningfulWords(form).map((part) => part.form) : [form];
    for (const [index, each] of forms.entries()) {
      words.push({ form: each, start, end, joined: joined || index > 0, unspaced: character !== undefined });
    }
    previous = { end, joins };
  }
  return words;
}

function formOf(written: string): string {
  if (/^(?:[a-z0-9]+|[!-@]|[\u3400-\u9fff])$/.test(written)) return written;
  return written
    .replace(/[*`\p{Cf}\ufe00-\ufe0f]/gu, "")
    .replace(dashes, "-")
    .replace(/[^\p{No}\u2070-\u209f]+/gu, (part) => part.normalize("NFKD")) // 10² is not 102, nor 2½ 21⁄2.
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(/ς/g, "σ")
    .replace(/[’ʼ]/g, "'")
    .replace(/ ?- ?/g, "-");
}

const negations = new Set(
  (
    "not no never none neither nor without cannot unless except nicht kein keine keinen nie ohne ne pas jamais sans " +
    "nunca sin non não niet geen не нет без"
  ).split(" "),
);

/** Whether a form denies something, in Chinese, English or another common language. */
export function isNegation(form: string): boolean {
  return negations.has(form) || form.endsWith("n't") || /^[不没沒未无無勿非]/u.test(form);
}
