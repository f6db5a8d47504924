import { terms } from "../../../../text/words/terms.js";
import { isUnspaced } from "../../rarity.js";
import type { Asked } from "./asked.js";
import type { Scores } from "./score.js";
import type { Unit } from "./units.js";
import { lowerWords } from "./written-words.js";

/** Words less unusual than this stand in texts on any subject. */
const minUnusual = 2;
/** Further ahead of the best of another source says no more; a passage whose source is the only one leads by less. */
const [maxLead, leadOfOne] = [3, 1];
/** Sources assumed to lack each word beside the given ones, so that a word that all of them hold still tells something. */
const unseenSources = 2;
/** A question about an article is put in any words, one about a manual in words of its own. */
const minEvidence = { manual: 4.2, article: 3.45 };

/**
 * Whether the sources hold the answer, by how surely the best unit, which is quoted as `quoted`, gives it. The weights are those of a
 * logistic regression, see the README. A sentence with all words of the question always answers.
 */
export function isAnswered(asked: Asked, scores: Scores, units: readonly Unit[], quoted: string): boolean {
  const { ranked, inSources, holdsAll } = scores;
  const [best] = ranked;
  // A question such as "What time is it?" is on no subject.
  const isOnSubject = asked.definition !== undefined || asked.unusual.some((one) => one >= minUnusual);
  if (best === undefined || !isOnSubject) return false;
  if (holdsAll) return true;
  const sources = [...inSources.values()];
  let [held, missing, missingNames] = [0, 0, 0];
  for (const [index, unusual] of asked.unusual.entries()) {
    const holding = sources.filter((strengths) => strengths[index] === 1).length;
    const telling =
      (isUnspaced(asked.terms[index]!) ? 0.5 : 1) * unusual * (1 - holding / (sources.length + unseenSources));
    held += telling * best.held[index]!;
    missing += telling * (1 - best.held[index]!);
    // A question about the Perl SDK is not answered by any other, least of all where nothing speaks of Perl.
    if (asked.isName[index] && inSources.get(best.unit.source)![index] === 0)
      missingNames += sources.every((strengths) => strengths[index] === 0) ? 3 : 1;
  }
  const rival = ranked.find(({ unit }) => unit.source !== best.unit.source);
  const lead = rival === undefined ? leadOfOne : Math.min(maxLead, best.score - rival.score);
  const evidence =
    0.5 * best.score + 0.23 * held - 0.06 * missing - missingNames + 0.3 * lead + 1.25 * literalShare(asked, quoted);
  const isManual = units.some(({ section }) => section.headed);
  return evidence >= (isManual ? minEvidence.manual : minEvidence.article);
}

/** Share of the question's words that stand in a text letter by letter: in another form a word is often another one. */
function literalShare({ question, terms: asked }: Asked, text: string): number {
  const words = lowerWords(question).filter((word) => terms(word).some((term) => asked.includes(term)));
  const held = new Set(lowerWords(text));
  return words.length === 0 ? 0 : words.filter((word) => held.has(word)).length / words.length;
}
