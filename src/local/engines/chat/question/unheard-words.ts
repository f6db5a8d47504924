import { isUnspaced, rarity } from "../../rarity.js";
import { holdsAny, type QuestionReading } from "./question-reading.js";
import { wantedKinds } from "./wanted.js";
import { minSimilarity, termSimilarity } from "./word-forms.js";

/** Words from this rarity on say what a question is about. */
const tellingRarity = 0.7;
/** Words that questions are put with and texts do without, as stems: "What is the role of the queue?" */
const puttingWords = new Set("role purpos mean addition addit exactli actual correct proper".split(" "));
/** Characters that stand between words of Chinese more often than within them: pairs with one of them are mostly no words. */
const joiningCharacters =
  /[的了是在和有为与之以及于中也被等由其这个一不人吗呢吧么什哪谁怎几多少何时来用后会让将把前到从能可]/;
/** Shorter words are one letter from too many others. */
const minMisspeltLength = 5;

/**
 * Share of a question's weight in telling words that no source holds in any form, 0 to 1. Search brings what holds the rare
 * words of a question, if anything does; where it brings nothing, the collection does not speak of them.
 */
export function unheardShare(reading: QuestionReading): number {
  const { question, weights, synonyms, sources } = reading;
  const held = new Set([...sources.values()].flatMap(({ found }) => [...found]));
  const named = new Set(wantedKinds(question).flatMap((kind) => [...kind.named]));
  const isMissing = (term: string) =>
    !named.has(term) &&
    termSimilarity(term, held) < minSimilarity &&
    !holdsAny(held, synonyms.get(term)) &&
    !(term.length >= minMisspeltLength && [...held].some((other) => isMisspelling(term, other)));
  let [total, unheard] = [0, 0];
  // A pair of Chinese characters may lie across two words; of a word that is missing, the pair beside it is missing, too.
  let [pair, pairWeight] = ["", 0];
  for (const [term, weight] of weights) {
    total += weight;
    if (!isUnspaced(term)) {
      pair = "";
      if (isTelling(term) && isMissing(term)) unheard += weight;
    } else if (joiningCharacters.test(term) || !isMissing(term)) {
      pair = "";
    } else {
      const continues = pair !== "" && pair.at(-1) === term[0];
      if (continues) unheard += pairWeight + weight;
      [pair, pairWeight] = [term, continues ? 0 : weight];
    }
  }
  return total === 0 ? 0 : unheard / total;
}

function isTelling(term: string): boolean {
  return rarity(term) >= tellingRarity && !puttingWords.has(term);
}

/** Whether one letter is added, left out, replaced, or has changed places with the next. */
function isMisspelling(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [restOfOne, restOfOther] = [one.slice(start), other.slice(start)];
  return (
    restOfOne.slice(1) === restOfOther.slice(1) ||
    restOfOne.slice(1) === restOfOther ||
    restOfOne === restOfOther.slice(1) ||
    (restOfOne.slice(2) === restOfOther.slice(2) && restOfOne[0] === restOfOther[1] && restOfOne[1] === restOfOther[0])
  );
}
