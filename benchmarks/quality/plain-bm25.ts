import { stemmer } from "stemmer";

const stopWords = new Set(
  (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this " +
    "to was will with"
  ).split(" "),
);

/**
 * BM25 as a textbook has it, by which the notes of the collections were made: Lucene's formula and English stop words, Porter's
 * stems, and Chinese as overlapping pairs of characters.
 *
 * @see https://lucene.apache.org/core/9_0_0/core/org/apache/lucene/search/similarities/BM25Similarity.html
 */
export class PlainBm25 {
  readonly #lengths = new Map<string, number>();
  /** How often each document has a term. */
  readonly #postings = new Map<string, Map<string, number>>();
  #totalLength = 0;
  readonly #k1: number;
  readonly #b: number;

  constructor(k1: number, b: number) {
    this.#k1 = k1;
    this.#b = b;
  }

  add(id: string, text: string): void {
    const terms = termsOf(text);
    this.#lengths.set(id, terms.length);
    this.#totalLength += terms.length;
    for (const term of terms) {
      const having = this.#postings.get(term) ?? new Map<string, number>();
      this.#postings.set(term, having.set(id, (having.get(id) ?? 0) + 1));
    }
  }

  /** Ids and scores of the best documents, best first. */
  search(question: string, count: number): readonly (readonly [id: string, score: number])[] {
    const all = this.#lengths.size;
    const scores = new Map<string, number>();
    for (const term of termsOf(question)) {
      const having = this.#postings.get(term) ?? new Map<string, number>();
      const rarity = Math.log(1 + (all - having.size + 0.5) / (having.size + 0.5));
      for (const [id, often] of having) {
        const long = (this.#lengths.get(id)! * all) / this.#totalLength;
        scores.set(id, (scores.get(id) ?? 0) + (rarity * often) / (often + this.#k1 * (1 - this.#b + this.#b * long)));
      }
    }
    return [...scores].toSorted(([, one], [, other]) => other - one).slice(0, count);
  }
}

function termsOf(text: string): readonly string[] {
  const runs = text.toLowerCase().match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu) ?? [];
  return runs.flatMap((run) => {
    if (!/^\p{Script=Han}/u.test(run)) return stopWords.has(run) ? [] : [stemmer(run)];
    const signs = Array.from(run);
    return signs.length === 1 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
  });
}
