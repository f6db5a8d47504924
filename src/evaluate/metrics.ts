/** Relevance of documents to one query, by document id: 0 or less is not relevant, more is more relevant. */
export type Judgements = ReadonlyMap<string, number>;

// Every measure of a ranking takes document ids best first, each at most once; a document without a judgement is not
// relevant. All measures are 0 to 1, and those of rankings are 0 if nothing is relevant.

/**
 * Normalised discounted cumulative gain of the first `k`: the gain of a document is its judged score, discounted by
 * log2(rank + 1), over the same sum for the best order of all judged documents. Järvelin and Kekäläinen, "Cumulated
 * gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, with the discount of trec_eval.
 *
 * @example
 * ```ts
 * import { ndcg } from "citewell/evaluate";
 * ndcg(["c", "a"], new Map([["a", 1]]), 10); // 1 / log2(3) = 0.63
 * ```
 */
export function ndcg(ranking: readonly string[], judgements: Judgements, k: number): number {
  const ideal = discountedGain(
    [...judgements.values()].toSorted((a, b) => b - a),
    k,
  );
  const gains = ranking.slice(0, k).map((id) => judgements.get(id) ?? 0);
  return ideal === 0 ? 0 : discountedGain(gains, k) / ideal;
}

function discountedGain(gains: readonly number[], k: number): number {
  return gains.slice(0, k).reduce((sum, gain, index) => sum + Math.max(0, gain) / Math.log2(index + 2), 0);
}

/**
 * Share of the relevant documents that are among the first `k`.
 *
 * @example
 * ```ts
 * import { recall } from "citewell/evaluate";
 * recall(["c", "a"], new Map([["a", 1], ["b", 1]]), 10); // 0.5
 * ```
 */
export function recall(ranking: readonly string[], judgements: Judgements, k: number): number {
  const relevant = countRelevant(judgements);
  const found = ranking.slice(0, k).filter((id) => isRelevant(judgements, id)).length;
  return relevant === 0 ? 0 : found / relevant;
}

/**
 * One over the rank of the first relevant document among the first `k`.
 *
 * @example
 * ```ts
 * import { reciprocalRank } from "citewell/evaluate";
 * reciprocalRank(["c", "a"], new Map([["a", 1]]), 10); // 0.5
 * ```
 */
export function reciprocalRank(ranking: readonly string[], judgements: Judgements, k: number): number {
  const index = ranking.slice(0, k).findIndex((id) => isRelevant(judgements, id));
  return index === -1 ? 0 : 1 / (index + 1);
}

/**
 * Precision at the rank of each relevant document, averaged over all of them; one that is not ranked counts 0.
 *
 * @example
 * ```ts
 * import { averagePrecision } from "citewell/evaluate";
 * averagePrecision(["a", "c", "b"], new Map([["a", 1], ["b", 1]])); // (1 / 1 + 2 / 3) / 2 = 0.83
 * ```
 */
export function averagePrecision(ranking: readonly string[], judgements: Judgements): number {
  const relevant = countRelevant(judgements);
  let found = 0;
  let sum = 0;
  for (const [index, id] of ranking.entries()) {
    if (!isRelevant(judgements, id)) continue;
    found++;
    sum += found / (index + 1);
  }
  return relevant === 0 ? 0 : sum / relevant;
}

export function countRelevant(judgements: Judgements): number {
  return [...judgements.values()].filter((score) => score > 0).length;
}

function isRelevant(judgements: Judgements, id: string): boolean {
  return (judgements.get(id) ?? 0) > 0;
}

const articles = new Set(["a", "an", "the"]);
const character = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]";
/** A number or a Latin word ends where a character begins that is a word: `2017年` is two. */
const answerWord = new RegExp(`${character}|(?:(?!${character})[\\p{L}\\p{M}\\p{N}])+`, "gu");

/**
 * The words by which answers are compared: lower case, without punctuation and English articles; characters of scripts
 * without spaces count as words. After Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
 * EMNLP 2016.
 */
export function answerWords(text: string): readonly string[] {
  const words = text.normalize("NFKC").toLowerCase().match(answerWord);
  return (words ?? []).filter((word) => !articles.has(word));
}

/** 1 if the text is one of the answers, 0 otherwise. */
export function exactMatch(text: string, answers: readonly string[]): number {
  const words = answerWords(text).join(" ");
  return answers.some((answer) => answerWords(answer).join(" ") === words) ? 1 : 0;
}

/** F1 of the words that text and answer share, repetitions counted; the best over several answers. */
export function tokenF1(text: string, answers: readonly string[]): number {
  const said = answerWords(text);
  return Math.max(0, ...answers.map((answer) => sharedF1(said, answerWords(answer))));
}

/** Share of an answer's words that a text has, repetitions counted; the best over several answers. */
export function tokenRecall(text: string, answers: readonly string[]): number {
  const said = answerWords(text);
  const shares = answers.map(answerWords).map((wanted) => sharedWords(said, wanted) / Math.max(1, wanted.length));
  return Math.max(0, ...shares);
}

function sharedF1(said: readonly string[], wanted: readonly string[]): number {
  if (said.length === 0 || wanted.length === 0) return said.length === wanted.length ? 1 : 0;
  return (2 * sharedWords(said, wanted)) / (said.length + wanted.length);
}

function sharedWords(said: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of said) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  return shared;
}

/** Whether a text contains one of the answers, word for word. */
export function holdsAnswer(text: string, answers: readonly string[]): boolean {
  const words = ` ${answerWords(text).join(" ")} `;
  return answers.some((answer) => {
    const wanted = answerWords(answer).join(" ");
    return wanted !== "" && words.includes(` ${wanted} `);
  });
}
