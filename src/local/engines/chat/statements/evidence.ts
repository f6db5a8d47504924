import { neighbours } from "../../../../text/words/closeness.js";
import { isUnspaced } from "../../rarity.js";
import { minSimilarity, termSimilarity } from "../question/word-forms.js";
import { plainTerms, type QuestionReading, type SourceTerms } from "../question/question-reading.js";
import { lowerWords, unusualness, wordCount, writtenForms } from "../question/written-words.js";

/** A sentence, or two that follow each other. */
export interface Candidate {
  /** Places among all statements. */
  readonly places: readonly number[];
  readonly source: SourceTerms;
  /** Score of its better statement. */
  readonly statementScore: number;
  readonly score: number;
}

const minEvidence = 3.6;
/** A share of pairs of characters is less likely by chance, and tells more than a share of words. */
const unspacedShare = 2;
const minUnspacedEvidence = 2.85;
/** Further ahead of the best passage of another source says no more. */
const maxLead = 3;
/** The lead of a passage whose source is the only one. */
const leadOfOne = 1;

/**
 * Judges how surely passages answer, each the best of its source: 0 is the least that is quoted. The weights are round;
 * `eval --answers` measures what they come to.
 */
export function evidenceOf(reading: QuestionReading, candidates: readonly Candidate[]): readonly number[] {
  const { question, weights, read } = reading;
  const asked = [...weights.keys()];
  const unspaced = asked.filter(isUnspaced).length / Math.max(1, asked.length);
  const words = lowerWords(question);
  const tells = (word: string) => plainTerms(word).some((term) => weights.has(term));
  const telling = words.filter(tells);
  const pairs = neighbours(words).filter((pair) => pair.some(tells) && !pair.some(isUnspaced));
  const unusual = unusualnessOf(reading);
  return candidates.map((candidate) => {
    const { places, source, statementScore, score } = candidate;
    const rivals = candidates.filter((other) => other !== candidate).map((other) => other.score);
    const lead = rivals.length === 0 ? leadOfOne : Math.min(maxLead, score - Math.max(...rivals));
    // A word in another form is often another word, such as `native` for `nation`.
    const inPassage = new Set(places.flatMap((at) => lowerWords(read[at]!.statement.text)));
    const exact = telling.filter((word) => inPassage.has(word)).length / Math.max(1, telling.length);
    return (
      (0.9 + unspacedShare * unspaced) * statementScore +
      0.5 * lead +
      2 * exact +
      information(reading, source, unusual) +
      0.3 * standingPairs(reading, source, pairs) -
      missingNames(reading, source) -
      minUnspacedEvidence * unspaced -
      minEvidence
    );
  });
}

/** A source that holds a word of the question tells this much, for each unit of how unusual the word is … */
const unusualWeight = 0.16;
/** … less what any word is found by chance. */
const chance = 0.2;
/** As many sources are thought to be there besides that lack each word: one that all the given ones hold tells something, too. */
const unseenSources = 2;

/** How unusual each term of the question is, as it is written there. */
function unusualnessOf({ question, weights }: QuestionReading): ReadonlyMap<string, number> {
  const written = writtenForms(question);
  return new Map(Array.from(weights.keys(), (term) => [term, unusualness(written.get(term) ?? term)]));
}

/**
 * How much the words tell that a source holds: two common words of three may stand in any text, six rare ones of nine do
 * not. A word of every source is the subject of all, and does not say which of them answers.
 */
function information(
  { sources }: QuestionReading,
  { found }: SourceTerms,
  unusual: ReadonlyMap<string, number>,
): number {
  let total = 0;
  for (const [term, rareness] of unusual) {
    const similarity = termSimilarity(term, found);
    if (similarity < minSimilarity) continue;
    const holding = [...sources.values()].filter((source) => source.found.has(term)).length;
    const lacking = 1 - holding / (sources.size + unseenSources);
    total += wordCount([term]) * similarity * (unusualWeight * lacking * rareness - chance);
  }
  return total;
}

/** A question about the Eiffel Tower is not answered by any other tower, nor one about 1889 by another year. */
function missingNames({ names }: QuestionReading, { found }: SourceTerms): number {
  return [...names.keys()].filter((name) => !found.has(name)).length;
}

/** How many neighbouring words of the question stand side by side in a source. Pairs of characters overlap anyway. */
function standingPairs(
  { read, sources }: QuestionReading,
  source: SourceTerms,
  wanted: readonly (readonly [string, string])[],
): number {
  if (wanted.length === 0) return 0;
  const ofSource = read.filter(({ statement }) => sources.get(statement.source) === source);
  const held = new Set(ofSource.flatMap(({ statement }) => neighbours(lowerWords(statement.text)).map(asText)));
  return wanted.filter((pair) => held.has(asText(pair))).length;
}

function asText([first, second]: readonly [string, string]): string {
  return `${first} ${second}`;
}
