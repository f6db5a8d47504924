import type { Support } from "../../core/types.js";
import { sentences } from "../blocks/sentences.js";
import { alignTokens, type TokenRun } from "./align-tokens.js";
import { nearestWindow } from "./nearest-window.js";
import { mayBeOmitted } from "./omissions.js";
import { printedText, type PrintedText, type PrintedToken, type Reading } from "./printed-tokens.js";

/** A place of a text that has the words of a claim, or words near to them. */
export interface LocatedWords {
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly support: Exclude<Support, "missing">;
  /** Present when the words are there but struck out. */
  readonly isStruck?: true;
}

/** Minimum number of words on either side of an ellipsis. */
const minPieceTokens = 2;
const maxPieces = 8;
/** Minimum share of a claim's distinct words that stand close together where its text is near. */
const nearShare = 0.6;
/** Minimum number of words of a near claim: too much resembles shorter ones. */
const minNearWords = 4;

/**
 * Makes a search for claims in one text, which is read once. A claim is found if all its words, numbers, signs and stops are
 * in the text, in its order and without others between them, except where an ellipsis stands for some that may be left out.
 * Otherwise the sentences with most of its words are near. Takes steps in proportion to text and claim together.
 */
export function quoteLocator(text: string): (claim: string) => LocatedWords | undefined {
  const source = new SourceText(text);
  return (claim) => {
    const claimed = claim.trim();
    const literal = findLiteral(source, claimed);
    if (literal) return literal;
    const readings = readingsOf(claimed);
    for (const quote of readings) {
      for (const own of source.standing) {
        const found = findWhole(own, quote);
        if (found) return spanOf(source, own.tokens, found, "normalised");
      }
    }
    const elided = findElided(source.standing[0]!, claimed);
    if (elided) return spanOf(source, source.standing[0]!.tokens, elided, "normalised");
    return findStruck(source, readings) ?? findNear(source, readings);
  };
}

/** A text with its possible readings. */
class SourceText {
  readonly text: string;
  readonly all: PrintedText;
  /** The tokens that are not struck out, with hyphens at the ends of lines read as joining and as dividing. */
  readonly standing: readonly PrintedText[];
  #pairs: readonly FormAt[] | undefined;

  constructor(text: string) {
    this.text = text;
    this.all = printedText(text);
    const divides = /\p{L}[-‐]\n[ \t]*\p{Ll}/u.test(text);
    this.standing = [this.all, ...(divides ? [printedText(text, { unhyphenated: true })] : [])].map(withoutStruck);
  }

  /** Tokens for a search that ignores their order. */
  get pairs(): readonly FormAt[] {
    return (this.#pairs ??= pairCharacters(this.all.tokens));
  }
}

type FormAt = Pick<PrintedToken, "form" | "start" | "end">;

function withoutStruck({ tokens, tail }: PrintedText): PrintedText {
  return tokens.some(({ isStruck }) => isStruck)
    ? { tokens: tokens.filter(({ isStruck }) => !isStruck), tail }
    : { tokens, tail };
}

/** The ways to read a quote: its marks may have lost their partners where it was cut. */
function readingsOf(quoted: string): PrintedText[] {
  const claimed = quoted.replace(/^[\s"“”„«»'‘’…]+/u, "");
  const whole = printedText(claimed);
  const readings: Reading[] = /[*_`~[\]|<\\]/u.test(claimed) ? [{ cut: true }] : [];
  return [whole, ...readings.map((reading) => printedText(claimed, reading))].filter(({ tokens }) => tokens.length > 0);
}

/** The claim letter by letter, from the border of a word to the border of another. */
function findLiteral({ text, all: { tokens } }: SourceText, claimed: string): LocatedWords | undefined {
  if (claimed === "") return undefined;
  const struck = /~~|<\/?(?:del|s|strike)\b/iu.test(claimed);
  for (let start = text.indexOf(claimed); start >= 0; start = text.indexOf(claimed, start + 1)) {
    const end = start + claimed.length;
    const from = firstFrom(tokens, start);
    const to = firstFrom(tokens, end);
    const [first, last, next] = [tokens[from], tokens[to - 1], tokens[to]];
    if (!first || !last || from >= to || first.joined || first.denied || next?.joined || last.end > end) continue;
    if ((tokens[from - 1]?.end ?? 0) > start) continue;
    if (struck || !tokens.slice(from, to).some(({ isStruck }) => isStruck)) return { start, end, support: "exact" };
  }
  return undefined;
}

/** Index of the first token that starts at an offset or behind it. */
function firstFrom(tokens: readonly PrintedToken[], offset: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tokens[middle]!.start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findWhole(own: PrintedText, quote: PrintedText): TokenRun | undefined {
  for (const run of alignTokens(own, quote)) if (run.agrees) return run;
  return undefined;
}

const ellipsis = /[[(（]? ?(?:…+|\.{3,}|(?:\. ){2,}\.|⋯+) ?[\])）]?/u;

/** Finds the pieces between the ellipses of a claim one after another. */
function findElided(own: PrintedText, claimed: string): TokenRun | undefined {
  const pieces = claimed
    .split(ellipsis)
    .map((piece) => printedText(piece))
    .filter(({ tokens }) => tokens.length > 0);
  if (pieces.length === 0 || pieces.length > maxPieces) return undefined;
  if (pieces.length > 1 && pieces.some(({ tokens }) => tokens.length < minPieceTokens)) return undefined;
  // Where the pieces so far were found: each place of the next piece goes on from the last of those before it.
  let found: readonly TokenRun[] | undefined;
  for (const piece of pieces) {
    const next: TokenRun[] = [];
    let last = -1;
    for (const { from, to, agrees } of alignTokens(own, piece)) {
      if (!agrees) continue;
      if (!found) {
        next.push({ from, to });
        continue;
      }
      while (last + 1 < found.length && found[last + 1]!.to <= from) last++;
      const before = found[last];
      if (before && mayBeOmitted(own.tokens, before.to, from)) next.push({ from: before.from, to });
    }
    found = next;
  }
  return found?.[0];
}

function findStruck(source: SourceText, readings: readonly PrintedText[]): LocatedWords | undefined {
  const { tokens } = source.all;
  if (!tokens.some(({ isStruck }) => isStruck)) return undefined;
  for (const quote of readings) {
    for (const run of alignTokens(source.all, quote)) {
      if (tokens.slice(run.from, run.to).some(({ isStruck }) => isStruck)) {
        return { ...spanOf(source, tokens, run, "near"), isStruck: true };
      }
    }
  }
  return undefined;
}

function findNear(source: SourceText, readings: readonly PrintedText[]): LocatedWords | undefined {
  const { tokens } = source.all;
  for (const quote of readings) {
    for (const run of alignTokens(source.all, quote))
      return nearestSentences(source, tokens[run.from]!.start, tokens[run.to - 1]!.end);
  }
  const wanted = pairCharacters(readings[0]?.tokens ?? []);
  if (wanted.length < minNearWords) return undefined;
  const there = source.pairs;
  const forms = (pairs: readonly { readonly form: string }[]) => pairs.map(({ form }) => form);
  const window = nearestWindow(forms(wanted), forms(there), nearShare);
  return window && nearestSentences(source, there[window.from]!.start, there[window.to - 1]!.end);
}

function nearestSentences({ text }: SourceText, start: number, end: number): LocatedWords {
  const touched = sentences(text).filter((sentence) => sentence.end > start && sentence.start < end);
  return { start: touched[0]?.start ?? start, end: touched.at(-1)?.end ?? end, support: "near" };
}

/** Replaces characters of unspaced scripts by pairs of neighbours: out of order, single ones say almost nothing. */
function pairCharacters(tokens: readonly PrintedToken[]): FormAt[] {
  const isUnspaced = (token: PrintedToken | undefined) => token?.kind === "character";
  return tokens.flatMap((token, index) => {
    if (!isUnspaced(token)) return [token];
    const next = tokens[index + 1];
    const paired = isUnspaced(next) && next!.start === token.end;
    return paired ? [{ form: token.form + next!.form, start: token.start, end: next!.end }] : [];
  });
}

/** A link, or code between backticks, on one line. */
const linkOrCode =
  /!?\[[^\][\n]{0,500}\](?:\([^()\n]{0,500}\)|\[[^\][\n]{0,100}\])|(?<!`)(`+)(?!`)[^\n]{1,500}?(?<!`)\1(?!`)/g;

/** The span of a run. One that begins or ends inside a link or code has the whole of it: words begin behind its first sign. */
function spanOf(
  { text }: SourceText,
  tokens: readonly PrintedToken[],
  { from, to }: TokenRun,
  support: LocatedWords["support"],
): LocatedWords {
  const { start } = tokens[from]!;
  const { end } = tokens[to - 1]!;
  const spanAround = (place: number) => {
    const lineStart = text.lastIndexOf("\n", place - 1) + 1;
    const lineEnd = text.indexOf("\n", place);
    const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
    return [...line.matchAll(linkOrCode)]
      .map(({ 0: found, index }) => ({ start: lineStart + index, end: lineStart + index + found.length }))
      .find((span) => span.start < place && place < span.end);
  };
  return { start: spanAround(start)?.start ?? start, end: spanAround(end)?.end ?? end, support };
}
