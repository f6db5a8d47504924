import { announces, textOf, type Unit } from "./units.js";

/** A stretch of a source that is quoted: neighbouring units, whole. */
export interface Quotation {
  readonly units: readonly Unit[];
  /** The unit that answers. */
  readonly telling: Unit;
}

/** A quotation takes in what stands beside it up to this many words. */
const maxWords = 90;
/** A list, a table, or code with the sentence before it is quoted whole up to this many words. */
const maxBlockWords = 140;
/** An item with fewer words is quoted with its list. */
const minItemWords = 8;
/** Maximum length of a citation, in UTF-16 units. */
const maxLength = 3500;

/**
 * The passage around a unit as a person would quote it: neighbouring blocks of one section, a list or table with its lead-in, code
 * with the sentence before it. It never begins with what points back, nor ends with what leads on.
 *
 * @param factFirst whether it begins with the telling sentence or item wherever that stands.
 */
export function quotationAround(units: readonly Unit[], offset: number, factFirst: boolean): Quotation {
  const telling = units[offset]!;
  const joins = (one: number, other: number) =>
    units[one]?.source === units[other]?.source && units[one]?.section === units[other]?.section;
  const isSameBlock = (one: number, other: number) => joins(one, other) && units[one]!.block === units[other]!.block;
  let [first, last] = [offset, offset];
  while (isSameBlock(first, first - 1)) first--;
  while (isSameBlock(last, last + 1)) last++;

  let [from, to] = [offset, offset];
  const isSentence = telling.kind === "sentence";
  if (wordCount(units, first, last) <= (isSentence ? maxWords : maxBlockWords)) {
    const beginsHere = isSentence || (telling.kind === "item" && wordCount(units, offset, offset) >= minItemWords);
    from = factFirst && beginsHere ? offset : first;
    to = last;
  }
  let words = wordCount(units, from, to);
  const take = (one: number, other: number) => {
    words += wordCount(units, one, other);
    [from, to] = [Math.min(from, one), Math.max(to, other)];
  };
  // Behind it whole sentences, items and blocks follow while there is room; a lead-in comes with what it leads to.
  while (joins(to, to + 1)) {
    let end = to + 1;
    while (announces(units[end]!) && joins(end, end + 1)) end++;
    const leads = announces(units[to]!) || (isSentence && to === last && units[end]!.kind === "code");
    // Code that is too long for a citation is cut there, and shown as cut.
    const room = !leads ? maxWords : units[end]!.kind === "code" ? Infinity : maxBlockWords + maxWords;
    if (announces(units[end]!) || words + wordCount(units, to + 1, end) > room) break;
    take(to + 1, end);
  }
  const lead = from === first && !isSentence && joins(from, from - 1) ? units[from - 1]! : undefined;
  if (lead?.kind === "sentence" && (announces(lead) || telling.kind === "code")) take(from - 1, from - 1);
  for (let steps = 0; steps < 3 && pointsBack(textOf(units[from]!)) && joins(from, from - 1); steps++)
    take(from - 1, from - 1);
  return { units: withinLimit(units.slice(from, to + 1)), telling };
}

/** The words of a quotation as they stand in its source. */
export function quotationText({ units }: Quotation): string {
  return textOf({ ...units[0]!, end: units.at(-1)!.end });
}

/** Units up to the longest quotation that a citation carries; one that is longer by itself ends early, where a statement or word does. */
function withinLimit(units: readonly Unit[]): readonly Unit[] {
  const [first] = units;
  const limit = first!.start + maxLength;
  const whole = units.filter(({ end }) => end <= limit);
  if (whole.length === units.length) return units;
  const next = units[whole.length]!;
  const text = textOf({ ...next, end: limit });
  // A statement of code ends before a line that is neither indented nor the end of a bracket.
  const ends = next.kind === "code" ? text.matchAll(/\n(?=[^\s)\]}])/g) : text.matchAll(/\s(?=\S)/g);
  const end = [...ends].at(-1)?.index ?? text.length;
  return end <= 0 ? whole : [...whole, { ...next, end: next.start + end, cut: true }];
}

/** Words that have no meaning without the text before them. */
function pointsBack(text: string): boolean {
  return /^[\s>*_"“(-]*(?:(?:he|she|it|its|his|her|hers|they|their|them|this|these|those|that|such|both|there|here|however|therefore|thus|hence|otherwise|instead|also|then|but|and|so|the (?:above|former|latter|same)|as (?:mentioned|noted|described|shown|above|explained)|(?:in|for|with|by|to|at|on|from|of|under|after|before|because of|due to) (?:this|that|these|those|such)|for example|for instance|as a result|alternatively|additionally|furthermore|moreover|similarly|likewise|to (?:do|achieve|fix|avoid) (?:this|that|so))\b|[他她它其这那该此]|因此|所以|但是?|然而|否则|不过|如上|同样|另外|此外|例如|比如)/iu.test(
    text,
  );
}

/** Words of units, of any script: characters without spaces between them make some two a word. */
function wordCount(units: readonly Unit[], from: number, to: number): number {
  let count = 0;
  for (let place = from; place <= to; place++) {
    const text = textOf(units[place]!);
    count += (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0) / 2;
    count += text.match(/(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+/gu)?.length ?? 0;
  }
  return count;
}
