import {
  hanNumber,
  hanNumberEnd,
  hanNumberStart,
  isMeasure,
  isNegativeWord,
  isNumberWord,
  isShare,
  isUnitSymbol,
  linksNumbers,
  makeNumber,
  scalesNumber,
  thaiNumber,
} from "./number-words.js";
import { gapBetween, type Gap } from "./token-gaps.js";
import { traits } from "./read-markup.js";
import { visibleText } from "./visible-text.js";

/** A word, number, sign or character of a text, as citations are compared. */
export interface PrintedToken {
  /** A character is one of a script that puts no spaces between words. A number is whole, from its sign to its last digit. */
  readonly kind: "word" | "number" | "sign" | "character";
  /** The same for all typographic variants, in any case. */
  readonly form: string;
  /** The same for all typographic variants, in the case that it is written in. */
  readonly written: string;
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Punctuation between the token before it and it. */
  readonly gap: Gap;
  /** Whether it belongs to the token before it, as the parts of `5%`, `C++` and `non-smoker` do: nobody may quote half of them. */
  readonly joined: boolean;
  /** Whether the word before it denies it, so that no quotation may begin with it: "open the valve" of "do not open the valve". */
  readonly denied: boolean;
  readonly inCode: boolean;
  readonly inHeading: boolean;
  readonly isStruck: boolean;
  /** Whether a sentence, heading or cell begins with it, where case says nothing. */
  readonly opens: boolean;
  /** Whether all of its sentence is in capitals, so that case says nothing. */
  readonly shouts: boolean;
  /** Whether it is measured by case alone, as `mW` and `MW` behind a number are. */
  readonly isUnit: boolean;
}

export interface PrintedText {
  readonly tokens: readonly PrintedToken[];
  /** Punctuation behind the last token. */
  readonly tail: Gap;
}

export interface Reading {
  /** Whether the text is an excerpt, so that a mark may lack its partner. */
  readonly cut?: boolean;
  /** Whether a hyphen at the end of a line divides a word, rather than joins two. */
  readonly unhyphenated?: boolean;
}

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}〆ヵヶ";
const katakana = "\\p{Script=Katakana}ー\\uff70\\uff9e\\uff9f";
const letter = `(?:(?![${unspaced}${katakana}])[\\p{L}_])`;
const dash = "[-‐‑‒–—―−﹘﹣－~～〜]";
const sign = "(?<![\\p{L}\\p{M}\\p{N}_)\\]])[-‐‑–−﹣－+＋±]";
const thousands = "\\p{Nd}{1,3}(?:[ \\u00a0\\u2009\\u202f'’]\\p{Nd}{3}(?!\\p{Nd}))+";
const digits =
  `(?:\\p{Nd}+\\s\\p{Nd}+[/⁄]\\p{Nd}+|(?<!\\p{Nd})${thousands}|\\p{Nd}+)` +
  `(?:(?:[.,:/．：⁄٫٬·'’]|${dash}| [-–−] )\\p{Nd}+)*(?:[eE][-+−–]?\\p{Nd}+(?![\\p{L}]))?(?:${hanNumberEnd})?`;

// In order: numbers, words, characters of unspaced scripts and signs. Words are bounded for the sake of the regular
// expression's stack; the rest of a longer word is another one, joined to it.
const number = `(?:${hanNumberStart}\\s*)*(?:${sign})?(?:(?<![\\p{L}\\p{N}])[vV](?=\\p{Nd}))?(?:(?<![\\p{L}\\p{N}.])\\.(?=\\p{Nd}))?${digits}|${hanNumber}|${thaiNumber}`;
const restOfWord = `(?:${letter}|[\\p{M}\\p{Nd}\\p{No}]){0,400}`;
const word = (hyphenation: string) =>
  `${letter}(?:${restOfWord}${hyphenation})(?:(?<=[nN])['’ʼ＇][tT](?!${letter}))?|[${katakana}][${katakana}\\u3099\\u309a]{0,400}`;
const character = `(?=[\\p{L}\\p{Nl}])[${unspaced}][\\p{M}]*`;
const attachedSign =
  `(?<![\\p{L}\\p{N}\\p{M}_.!?…])!+(?=[\\p{L}\\p{N}_(\\[{"'=$-])|!=+|` +
  `(?<![\\p{L}\\p{N}\\p{M}_])(?:-{1,2}|−)(?=[\\p{L}_])|(?<=(?<!\\p{L})\\p{Lu}|\\p{N})[-−](?=\\s)|(?<=[\\p{L}\\p{N}])[-−](?=[,.;:)\\]"'”’]|$)|` +
  "(?<![\\p{L}\\p{N}\\p{M}.!?)\\]\"'”’])\\.(?=[\\p{L}_])|(?<=\\p{Nd})[\"'](?![\\p{L}\\p{N}])";
const symbol = "(?:(?!\\p{Nd})\\p{N}|[%％‰°&＆@＠/／\\\\§′″‴#＃*＊†‡]|[\\p{S}])\\p{M}*";

const patternWith = (hyphenation: string) =>
  new RegExp(`(${number})|(${word(hyphenation)})|(${character})|(${attachedSign}|${symbol})`, "gu");
const pattern = patternWith("");
const unhyphenating = patternWith(`(?:(?<=${letter})[-‐]\\n[ \\t]*(?=\\p{Ll})${letter}{1,100})?`);

export function printedText(original: string, { cut = false, unhyphenated = false }: Reading = {}): PrintedText {
  const visible = visibleText(original, { cut });
  const { text, offsets } = visible;
  const tokens: PrintedToken[] = [];
  const primes = primePlaces(text);
  let end = 0;
  for (const match of text.matchAll(unhyphenated ? unhyphenating : pattern)) {
    const [found, isNumber, isWord, isCharacter, isSign] = match;
    const offset = match.index;
    // A quotation mark behind a digit is a prime only if no quotation is open.
    if (isSign !== undefined && /^["']$/u.test(found) && !primes.has(offset)) continue;
    const kind =
      isNumber !== undefined
        ? "number"
        : isWord !== undefined
          ? "word"
          : isCharacter !== undefined
            ? "character"
            : "sign";
    const written = writtenForm(isSign === undefined ? found : signForm(found));
    const form = foldedForm(written);
    const gap = gapBetween(visible, end, offset);
    const trait = visible.traits[offset]!;
    const before = tokens.at(-1);
    end = offset + found.length;
    const token = {
      kind,
      form,
      written,
      start: offsets[offset]!,
      end: offsets[end - 1]! + 1,
      gap,
      inCode: (trait & traits.code) !== 0,
      inHeading: (trait & traits.heading) !== 0,
      isStruck: (trait & traits.struck) !== 0,
      opens: !before || /[.?¶:|(]/u.test(gap.marks) || gap.withQuotationMarks !== gap.marks,
      shouts: false,
      isUnit:
        before?.kind === "number" && kind === "word" && !gap.marks && written.length <= 4 && isUnitSymbol(written),
    } as const;
    const joined = before !== undefined && belongsTogether(tokens, token, text.slice(offset, offset + 4));
    const denied = token.gap.marks === "" && before?.kind === "word" && denials.test(before.form);
    tokens.push({ ...token, joined, denied });
  }
  joinLinked(tokens);
  markShouting(tokens);
  return { tokens, tail: gapBetween(visible, end, text.length) };
}

/** Where a quotation mark behind a digit closes nothing. */
function primePlaces(text: string): ReadonlySet<number> {
  const places = new Set<number>();
  const open = { '"': false, "'": false };
  for (const { 0: mark, index } of text.matchAll(/["']|[\n\ue002]/gu)) {
    if (mark !== '"' && mark !== "'") {
      open['"'] = open["'"] = false;
      continue;
    }
    const before = text[index - 1] ?? " ";
    if (/\p{Nd}/u.test(before) && !open[mark]) places.add(index);
    else if (mark === '"' || !/[\p{L}]/u.test(before) || open[mark]) open[mark] = !open[mark];
  }
  return places;
}

function signForm(found: string): string {
  if (/^[-−]+$/u.test(found)) return found.replace(/−/gu, "-");
  return found === "'" ? "′" : found === '"' ? "″" : found;
}

/** 10² is not 102, nor 2½ 21⁄2. */
function writtenForm(found: string): string {
  if (/^[A-Za-z0-9_]+$|^[\u3400-\u9fff]$/u.test(found)) return found;
  return found
    .replace(/[-‐]\n[ \t]*/gu, "")
    .replace(/[-‐‑‒–—―−﹘﹣－]/gu, "-")
    .replace(/[^\p{No}\u2070-\u209f]+/gu, (part) => part.normalize("NFKD"))
    .replace(/ς/gu, "σ")
    .replace(/[’ʼ]/gu, "'")
    .replace(/[～〜]/gu, "~")
    .replace(/\s*-\s*/gu, "-")
    .replace(/\s+/gu, " ");
}

function foldedForm(written: string): string {
  return written.toLowerCase().replace(/ß/gu, "ss").replace(/ς/gu, "σ");
}

type Unjoined = Omit<PrintedToken, "joined" | "denied">;

const privatives = /^[不没沒未无無非勿莫否免反伪偽假副准準拟擬亚亞禁]$/u;
/** Characters that make a word of denial together with a privative before them: 不得, 不会, 禁止. */
const deniedVerbs = /^[得要能可准許许会會应應该該必须須止]$/u;
/** Words of some languages that deny what follows them. */
const denials = new RegExp(
  `^(?:${[
    "not|never|no|nor|cannot|without|.+n't",
    "nicht|nie|niemals|kein(?:e[mnrs]?)?|ohne",
    "ne|pas|jamais|sans|aucune?|nunca|jamás|sin|não|nem|sem|non|senza",
    "не|никогда|без|δεν|μην?|χωρίς|niet|geen|nooit|inte|aldrig|ikke|nigdy",
  ].join("|")})$`,
  "u",
);
const privativeEnding = /^(?:ない|なかっ|なけれ|なく|なさそ|ません|ませぬ|ざる|ずに?|ぬ|まい)/u;
const signOfNumber = /^(?:[\p{Sc}%‰°#§№±~≈<>=≤≥≠+*^×÷-]|[<>=!]=)$/u;

/** Whether a token belongs to the one before it. `ahead` is the text from the token on. */
function belongsTogether(tokens: readonly PrintedToken[], token: Unjoined, ahead: string): boolean {
  const before = tokens.at(-1)!;
  const { gap, kind, form, written } = token;
  if (!gap.hasSpace && gap.join) return before.kind !== "character" && kind !== "character";
  if (gap.withQuotationMarks !== "") return false;
  const isAdjacent = !gap.hasSpace;
  if (kind === "character") {
    if (!isAdjacent) return false;
    if (before.kind === "number") return /\p{Nd}$/u.test(before.form) || isMeasure(form) || before.form.length > 1;
    if (before.kind !== "character") return false;
    const isDenial = before.joined && deniedVerbs.test(before.form) && privatives.test(tokens.at(-2)?.form ?? "");
    return isDenial || privatives.test(before.form) || privativeEnding.test(ahead);
  }
  if (before.kind === "character") return isAdjacent && (form === "ไม่" || privatives.test(before.form));
  if (before.kind === "sign" || kind === "sign") {
    if (isAdjacent) return true;
    const [mark, other] = before.kind === "sign" ? [before, token] : [token, before];
    return other.kind === "number" && signOfNumber.test(mark.form);
  }
  if (isAdjacent)
    return kind === "number" || before.kind === "number" || !/^[\p{Script=Katakana}ー]/u.test(before.form + form);
  if (before.kind === "number") return scalesNumber(form) || isUnitSymbol(written);
  if (isNegativeWord(before.form)) return kind === "number" || isNumberWord(form);
  return (
    makeNumber(before.form, form) ||
    (isShare(form) && isNumberWord(before.form)) ||
    /^(?:per|pour|por) cent/u.test(`${before.form} ${form}`)
  );
}

/** Joins the parts of a number that a word links: "one hundred and five", "half an hour", "2 and a half". */
function joinLinked(tokens: PrintedToken[]): void {
  const join = (index: number) => (tokens[index] = { ...tokens[index]!, joined: true });
  for (let position = 1; position + 1 < tokens.length; position++) {
    const [before, link, next] = [tokens[position - 1]!, tokens[position]!, tokens[position + 1]!];
    if (link.gap.marks + next.gap.marks !== "") continue;
    const isArticle = link.form === "a" || link.form === "an";
    if (linksNumbers(before.form, link.form, next.form) || (isArticle && before.form === "half")) {
      join(position);
      join(position + 1);
    } else if (isArticle && before.form === "and" && /^(?:half|quarter|third)$/u.test(next.form)) {
      const counted = tokens[position - 2];
      if (counted?.kind !== "number" && !isNumberWord(counted?.form ?? "")) continue;
      for (const place of [position - 1, position, position + 1]) join(place);
    }
  }
}

/** Marks the tokens of sentences that are all in capitals. */
function markShouting(tokens: PrintedToken[]): void {
  let from = 0;
  for (let offset = 1; offset <= tokens.length; offset++) {
    if (offset < tokens.length && !/[.?¶|]/u.test(tokens[offset]!.gap.marks)) continue;
    const words = tokens
      .slice(from, offset)
      .filter(({ written }) => /\p{L}{2}/u.test(written) && foldedForm(written) !== written.toUpperCase());
    if (words.length >= 3 && words.every(({ written }) => written === written.toUpperCase())) {
      for (let index = from; index < offset; index++) tokens[index] = { ...tokens[index]!, shouts: true };
    }
    from = offset;
  }
}
