import { tokenRank } from "../../../../text/tokens/tokens.js";
import { isUnspaced } from "../../rarity.js";
import { plainTerms } from "./question-reading.js";

/** Words as they stand in a text, in its order; of a script without spaces every two neighbouring characters. */
function writtenWords(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (isUnspaced(word) ? characterPairs(word) : [word]));
}

/** The same in lower case. */
export function lowerWords(text: string): readonly string[] {
  return writtenWords(text.toLowerCase());
}

/** The word of a text that each of its terms stands for. */
export function writtenForms(text: string): ReadonlyMap<string, string> {
  return new Map(writtenWords(text).flatMap((word) => plainTerms(word).map((term) => [term, word] as const)));
}

function characterPairs(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** How many words terms are. Pairs of characters overlap, so that each is about half a word. */
export function wordCount(asked: readonly string[]): number {
  return asked.reduce((count, term) => count + (isUnspaced(term) ? 0.5 : 1), 0);
}

/** Words up to this rank among the tokens stand in any text. */
const commonRank = 150;
/** A word that is no token by itself is rarer than all that are. */
const rareRank = 200_000;

/**
 * How unusual a word is in general, from 0 to about 7: the logarithm of its rank, by the law of Zipf. Tokens are ranked
 * about by how often they are written, most of them with the space before them.
 */
export function unusualness(word: string): number {
  const capital = word.charAt(0).toUpperCase() + word.slice(1);
  const ranks = [word, word.toLowerCase(), capital].map((written) => tokenRank(` ${written}`) ?? rareRank);
  return Math.max(0, Math.log(Math.min(...ranks) / commonRank));
}
