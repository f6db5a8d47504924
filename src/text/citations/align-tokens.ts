import type { PrintedText, PrintedToken } from "./printed-tokens.js";
import { gapsAgree } from "./token-gaps.js";

/** Tokens from index `from` up to `to`. */
export interface TokenRun {
  readonly from: number;
  readonly to: number;
}

/** A place of a text that has the tokens of a quote in their order, in any case and punctuation. */
export interface FoundRun extends TokenRun {
  /** Whether case, punctuation and borders are the text's too, so that the quote says what the text says. */
  readonly agrees: boolean;
}

/** Comparisons of case and punctuation that are made for each token of text and quote; further places are not looked at. */
const comparisonsPerToken = 50;

/**
 * The places of a text that have the tokens of a quote. Knuth, Morris and Pratt (1977) find those with the same forms; at
 * each, what a form does not say is compared.
 */
export function* alignTokens({ tokens, tail }: PrintedText, quote: PrintedText): Generator<FoundRun> {
  const wanted = quote.tokens;
  const { length } = wanted;
  if (length === 0) return;
  // Failure table: for each number of matching tokens, how many still match when the next one does not.
  const fallback = new Uint32Array(length + 1);
  const extended = (matching: number, form: string): number => {
    let count = matching;
    while (count > 0 && wanted[count]?.form !== form) count = fallback[count]!;
    return wanted[count]!.form === form ? count + 1 : 0;
  };
  for (let index = 1; index < length; index++) fallback[index + 1] = extended(fallback[index]!, wanted[index]!.form);

  const isLoud = shouts(wanted);
  let comparisons = comparisonsPerToken * (tokens.length + length);
  let matching = 0;
  for (const [index, { form }] of tokens.entries()) {
    matching = extended(matching, form);
    if (matching < length) continue;
    const from = index + 1 - length;
    const next = tokens[index + 1];
    const { joined, denied } = tokens[from]!;
    let agrees = !joined && !denied && next?.joined !== true && endAgrees(next?.gap ?? tail, quote.tail, !next);
    for (let position = 0; agrees && position < length; position++) {
      if (comparisons-- < 0) return;
      agrees = tokensAgree(tokens[from + position]!, wanted[position]!, position === 0, isLoud);
    }
    yield { from, to: index + 1, agrees };
  }
}

function tokensAgree(own: PrintedToken, quoted: PrintedToken, isFirst: boolean, isLoud: boolean): boolean {
  if (own.isStruck !== quoted.isStruck || (quoted.inHeading && !own.inHeading)) return false;
  if (own.written !== quoted.written && !caseMayDiffer(own, quoted, isFirst, isLoud)) return false;
  return isFirst || gapsAgree(own.gap, quoted.gap);
}

/** Case says nothing at the start of a sentence, in a heading, and in a sentence of capitals. Elsewhere US is not us. */
function caseMayDiffer(own: PrintedToken, quoted: PrintedToken, isFirst: boolean, isLoud: boolean): boolean {
  if (own.isUnit) return false;
  if (own.shouts) return own.written.toLowerCase() === quoted.written.toLowerCase() || quoted.form === own.form;
  if (!isOrdinary(own.written) || own.written.toLowerCase() !== quoted.written.toLowerCase()) return false;
  if (own.inHeading && isLoud) return true;
  return (own.opens || own.inHeading || isFirst || quoted.opens) && isOrdinary(quoted.written);
}

/** Whether a word is in small letters but for the first: no acronym, unit or identifier. */
function isOrdinary(written: string): boolean {
  return /^\p{L}[^\p{Lu}\p{Nd}_]*$/u.test(written);
}

/** Whether a quote is all in capitals. */
function shouts(tokens: readonly PrintedToken[]): boolean {
  return tokens.every(({ written }) => written === written.toUpperCase());
}

/** Whether a quote's last mark does not end a sentence that goes on in the text. */
function endAgrees(own: PrintedToken["gap"], quoted: PrintedToken["gap"], isLast: boolean): boolean {
  if (quoted.target !== undefined && quoted.target !== own.target) return false;
  const [stop] = /[.?]/u.exec(quoted.marks.replace(/…/gu, "")) ?? [];
  if (stop === undefined) return true;
  return (
    own.marks.includes(stop) || (stop === "." && (/[¶|]/u.test(own.marks) || (isLast && !own.marks.includes("?"))))
  );
}
