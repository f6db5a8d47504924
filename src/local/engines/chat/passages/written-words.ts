import { tokenRank } from "../../../../text/tokens/tokens.js";
import { isUnspaced } from "../../rarity.js";

/** Words of a text in lower case, in its order; of a script without spaces every two neighbouring characters. */
export function lowerWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (isUnspaced(word) ? characterPairs(word) : [word]));
}

function characterPairs(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Words up to this rank among the tokens occur in any text. */
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
