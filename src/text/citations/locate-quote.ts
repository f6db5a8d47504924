import type { Support } from "../../core/types.js";
import { sentences } from "../blocks/sentences.js";
import { isNegation, type MeaningfulWord, meaningfulWords } from "./meaningful-words.js";

/** Where a text has the words of a claim, or words near to them. */
export interface LocatedWords {
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly support: Exclude<Support, "missing">;
}

/** Maximum number of words that a quote may leave out with an ellipsis. */
const maxElidedWords = 40;
/** Minimum number of words on either side of an ellipsis. */
const minPieceWords = 2;
const maxPieces = 8;
/** Minimum share of a claim's distinct words that stand close together where its text is near. */
const nearShare = 0.6;
/** Too much resembles shorter claims. */
const minNearWords = 4;

/**
 * Makes a search for claims in one text, which is read once. A claim is found if all its words, numbers and symbols are in
 * the text, in its order and without others between them, except where an ellipsis stands for some that deny nothing.
 * Otherwise the sentences with most of its words are near. Takes steps in proportion to text and claim together.
 */
export function quoteLocator(text: string): (claim: string) => LocatedWords | undefined {
  // Link targets are read only for the rare claim that has one.
  const read = new Map<boolean, readonly MeaningfulWord[]>();
  const wordsOfText = (linkTargets: boolean) => {
    const words = read.get(linkTargets) ?? meaningfulWords(text, { linkTargets });
    read.set(linkTargets, words);
    return words;
  };
  return (claim) => {
    const claimed = claim.trim();
    const linkTargets = claimed.includes("](");
    const words = wordsOfText(linkTargets);
    const found =
      findWhole(text, words, claimed, linkTargets) ??
      findElided(words, claimed, linkTargets) ??
      findNear(text, words, claimed);
    return found && (found.support === "exact" ? found : { ...found, ...wholeMarkup(text, found) });
  };
}

/** A link, or code between backticks, on one line. */
const linkOrCode =
  /!?\[[^\][\n]{0,500}\](?:\([^()\n]{0,500}\)|\[[^\][\n]{0,100}\])|(?<!`)(`+)(?!`)[^\n]{1,500}?(?<!`)\1(?!`)/g;

/** A span that begins or ends inside a link or code, with the whole of it: words begin behind its first sign. */
function wholeMarkup(text: string, { start, end }: Pick<LocatedWords, "start" | "end">) {
  const spanAround = (place: number) => {
    const lineStart = text.lastIndexOf("\n", place - 1) + 1;
    const lineEnd = text.indexOf("\n", place);
    const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
    return [...line.matchAll(linkOrCode)]
      .map(({ 0: found, index }) => ({ start: lineStart + index, end: lineStart + index + found.length }))
      .find((span) => span.start < place && place < span.end);
  };
  return { start: spanAround(start)?.start ?? start, end: spanAround(end)?.end ?? end };
}

function findWhole(
  text: string,
  words: readonly MeaningfulWord[],
  claimed: string,
  linkTargets: boolean,
): LocatedWords | undefined {
  // At the beginning of a line these are markup, which the text's words do not have.
  const [markup] = /^(?:#{1,6}(?=\s)|[>\s])*/u.exec(claimed)!;
  const wanted = meaningfulWords(claimed.slice(markup.length), { linkTargets });
  const offset = markup.length + (wanted[0]?.start ?? 0);
  let normalised: LocatedWords | undefined;
  for (const { from, to } of runs(words, wanted)) {
    const { start } = words[from]!;
    if (start >= offset && text.startsWith(claimed, start - offset)) {
      return { start: start - offset, end: start - offset + claimed.length, support: "exact" };
    }
    if (markup !== "" && !text.slice(0, start).trimEnd().endsWith(markup.trim())) continue;
    normalised ??= { start, end: words[to - 1]!.end, support: "normalised" };
  }
  return normalised;
}

/** Finds the pieces between the ellipses of a claim one after another. */
function findElided(words: readonly MeaningfulWord[], claimed: string, linkTargets: boolean): LocatedWords | undefined {
  const pieces = claimed
    .split(/…+|\.{3,}|⋯+/u)
    .map((piece) => meaningfulWords(piece, { linkTargets }))
    .filter(({ length }) => length > 0);
  if (pieces.length < 2 || pieces.length > maxPieces || pieces.some(({ length }) => length < minPieceWords))
    return undefined;
  const denialsBefore = countDenials(words);
  // Where the pieces so far were found: each place of the next piece goes on from the last of those before it.
  let found: readonly WordRun[] = [...runs(words, pieces[0]!)];
  for (const piece of pieces.slice(1)) {
    const next: WordRun[] = [];
    let last = -1;
    for (const { from, to } of runs(words, piece)) {
      while (last + 1 < found.length && found[last + 1]!.to <= from) last++;
      const before = found[last];
      if (!before || from - before.to > maxElidedWords || denialsBefore[from] !== denialsBefore[before.to]) continue;
      next.push({ from: before.from, to });
    }
    found = next;
  }
  const [first] = found;
  return first && { start: words[first.from]!.start, end: words[first.to - 1]!.end, support: "normalised" };
}

function countDenials(words: readonly MeaningfulWord[]): Uint32Array {
  const counts = new Uint32Array(words.length + 1);
  for (const [index, { form }] of words.entries()) counts[index + 1] = counts[index]! + Number(isNegation(form));
  return counts;
}

/** Words from index `from` up to `to`. */
interface WordRun {
  readonly from: number;
  readonly to: number;
}

/** The runs of `words` that are the wanted words, neither cut out of joined ones. Knuth, Morris and Pratt (1977). */
function* runs(words: readonly MeaningfulWord[], wanted: readonly MeaningfulWord[]): Generator<WordRun> {
  if (wanted.length === 0) return;
  // For each number of words that match, how many still do when the next one does not.
  const fallback = new Uint32Array(wanted.length + 1);
  const extended = (matching: number, form: string): number => {
    let count = matching;
    while (count > 0 && wanted[count]?.form !== form) count = fallback[count]!;
    return wanted[count]!.form === form ? count + 1 : 0;
  };
  for (let index = 1; index < wanted.length; index++) {
    fallback[index + 1] = extended(fallback[index]!, wanted[index]!.form);
  }
  let matching = 0;
  for (const [index, { form }] of words.entries()) {
    matching = extended(matching, form);
    if (matching < wanted.length) continue;
    const from = index + 1 - wanted.length;
    if (words[from]!.joined || words[index + 1]?.joined === true) continue;
    yield { from, to: index + 1 };
  }
}

function findNear(text: string, words: readonly MeaningfulWord[], claimed: string): LocatedWords | undefined {
  const wanted = pairCharacters(meaningfulWords(claimed));
  if (wanted.length < minNearWords) return undefined;
  const there = pairCharacters(words);
  const window = nearestWindow(
    wanted.map(({ form }) => form),
    there.map(({ form }) => form),
    nearShare,
  );
  if (!window) return undefined;
  const [start, end] = [there[window.from]!.start, there[window.to - 1]!.end];
  const touched = sentences(text).filter((sentence) => sentence.end > start && sentence.start < end);
  return { start: touched[0]?.start ?? start, end: touched.at(-1)?.end ?? end, support: "near" };
}

/** Replaces characters of unspaced scripts by pairs of neighbours: out of order, single ones say almost nothing. */
function pairCharacters(words: readonly MeaningfulWord[]): Pick<MeaningfulWord, "form" | "start" | "end">[] {
  return words.flatMap((word, index) => {
    if (!word.unspaced) return [word];
    const next = words[index + 1];
    const paired = next?.unspaced === true && next.start === word.end;
    return paired ? [{ form: word.form + next.form, start: word.start, end: next.end }] : [];
  });
}

/**
 * The stretch of at most twice the length of `wanted` with the most of its distinct words, if they are at least `share` of
 * them; it begins and ends with one of them. One pass.
 */
export function nearestWindow(wanted: readonly string[], words: readonly string[], share: number): WordRun | undefined {
  const distinct = new Set(wanted);
  const width = Math.max(2 * wanted.length, 12);
  const held = new Map<string, number>();
  let best = { held: Math.ceil(distinct.size * share - 1e-9) - 1, from: 0, to: 0 };
  for (const [at, word] of words.entries()) {
    const leaving = words[at - width];
    const count = leaving === undefined ? undefined : held.get(leaving);
    if (count === 1) held.delete(leaving!);
    else if (count !== undefined) held.set(leaving!, count - 1);
    if (!distinct.has(word)) continue;
    held.set(word, (held.get(word) ?? 0) + 1);
    if (held.size > best.held) best = { held: held.size, from: Math.max(0, at - width + 1), to: at + 1 };
  }
  let { from } = best;
  while (from < best.to && !distinct.has(words[from]!)) from++;
  return best.to > from ? { from, to: best.to } : undefined;
}
