import { terms } from "../../../../text/words/terms.js";
import { isUnspaced, rarity } from "../../rarity.js";
import { minSimilarity, plainForm } from "../word-forms.js";
import type { Asked } from "./asked.js";
import { raise, weightedShare, type Scores } from "./score.js";
import type { Unit } from "./units.js";
import { lowerWords, unusualness } from "./written-words.js";

/** Words from this rarity on say what a question is about. */
const tellingRarity = 0.7;
/** Further ahead of the best of another source says no more. */
const maxLead = 3;
/** The lead of a passage whose source is the only one. */
const leadOfOne = 1;
/** Number of unseen sources assumed to lack each word, so that a word in all given sources still counts as evidence. */
const unseenSources = 2;
/** An article without headings is asked in any words; manuals are asked in words of their own. */
const minEvidence = { manual: 4.8, article: 4.55 };

/**
 * Whether the sources hold the answer, by how surely the best unit, which is quoted as `quoted`, gives it. Weights are round; they were fitted to questions
 * whose paragraph is there or hidden, see the README. A sentence with all telling words of the question always answers.
 */
export function isAnswered(
  asked: Asked,
  { ranked, weights, inSources, holdsAll }: Scores,
  units: readonly Unit[],
  quoted: string,
): boolean {
  const best = ranked[0];
  const telling = asked.terms.map((term) => rarity(term) >= tellingRarity);
  if (best === undefined) return false;
  // A question such as "What time is it?" has only a word that occurs in texts on any subject.
  const tells = telling.includes(true) || asked.definition !== undefined;
  if (holdsAll && (tells || asked.terms.length > 1)) return true;
  if (!tells) return false;
  const inSource = inSources.get(best.unit.source)!;
  const anywhere = new Float64Array(asked.terms.length);
  for (const strengths of inSources.values()) raise(anywhere, strengths);
  const unheard = anywhere.map((strength, index) => (telling[index] && strength < minSimilarity ? 1 : 0));
  const rival = ranked.find(({ unit }) => unit.source !== best.unit.source);
  const evidence =
    4.5 * weightedShare(weights, best.held) -
    1.6 * weightedShare(weights, unheard) +
    1.2 * information(asked, inSource, [...inSources.values()]) +
    2.8 * literalShare(asked, quoted) -
    1.5 * missingNames(asked, inSource) -
    1.5 * missingNames(asked, anywhere) +
    0.25 * (rival === undefined ? leadOfOne : Math.min(maxLead, best.score - rival.score));
  const isManual = units.some(({ section }) => section.headed);
  return evidence >= (isManual ? minEvidence.manual : minEvidence.article);
}

/** A question about the Eiffel Tower is not answered by any other tower, least of all where nothing speaks of Eiffel. */
function missingNames({ isName }: Asked, held: Float64Array): number {
  return isName.filter((isOne, index) => isOne && held[index]! < minSimilarity).length;
}

/**
 * How much the words tell that a source holds: two common words of three may stand in any text, six rare ones of nine do
 * not. A word of every source is the subject of all, and does not say which of them answers.
 */
function information(asked: Asked, inSource: Float64Array, all: readonly Float64Array[]): number {
  let total = 0;
  for (const [index, term] of asked.terms.entries()) {
    const holding = all.filter((strengths) => strengths[index] === 1).length;
    const lacking = 1 - holding / (all.length + unseenSources);
    const unusual = unusualness(asked.written.get(term) ?? term);
    total += (isUnspaced(term) ? 0.5 : 1) * inSource[index]! * (0.16 * lacking * unusual - 0.2);
  }
  return total;
}

/** Share of the question's words that stand in a text letter by letter: in another form a word is often another one. */
function literalShare({ question, terms: asked }: Asked, text: string): number {
  const words = lowerWords(question).filter((word) => terms(word).some((term) => asked.includes(plainForm(term))));
  const held = new Set(lowerWords(text));
  return words.length === 0 ? 0 : words.filter((word) => held.has(word)).length / words.length;
}
