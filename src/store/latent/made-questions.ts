import { seededRandom } from "../../core/random.js";
import { type LatentModel, latentVector, type TermCounts } from "./latent-model.js";

/** A chunk as a model is trained on it. */
export interface SampledText {
  /** Terms of its text, in order. */
  readonly terms: readonly string[];
  /** How often each of them and those of the context count. */
  readonly counts: TermCounts;
}

/** One text in so many is held out for questions: a model finds its own training texts too easily. */
export const askedEvery = 5;

/** Neighbouring terms that make a question, a third of the text at most. Questions of 6 tell less of real ones. */
const questionTerms = 12;
/** A shorter text has too little left without the question. */
const minTerms = 16;
/** Minimum number of questions for a meaningful measurement. */
const minQuestions = 40;

const [k1, b] = [1.2, 0.75];

/**
 * How well a model finds texts again by some of their words that are taken out of them, as a share of how well BM25 does: mean
 * reciprocal ranks among the sample, less those of chance. `undefined` where there are too few texts to ask about, or even their words do
 * not find them. Pauses after each question.
 */
export function* answeredShare(
  model: LatentModel,
  sample: readonly SampledText[],
): Generator<void, number | undefined> {
  const random = seededRandom(2);
  const words = new WordScores(sample);
  const vectors = sample.map(({ counts }) => unit(latentVector(model, counts)));
  let [byWords, byModel, questions] = [0, 0, 0];
  for (let index = 0; index < sample.length; index += askedEvery) {
    const { terms, counts } = sample[index]!;
    if (terms.length < minTerms) continue;
    const length = Math.min(questionTerms, Math.floor(terms.length / 3));
    const from = Math.floor(random() * (terms.length - length + 1));
    const question = new Map<string, number>();
    for (const term of terms.slice(from, from + length)) question.set(term, (question.get(term) ?? 0) + 1);
    const rest = new Map<string, number>();
    for (const [term, count] of counts) {
      const left = count - (question.get(term) ?? 0);
      if (left > 0) rest.set(term, left);
    }
    questions++;
    byWords += 1 / rankOf(words.scores(question), index, words.score(question, rest));
    const asked = unit(latentVector(model, question));
    const cosines = Float64Array.from(vectors, (vector) => dot(asked, vector));
    byModel += 1 / rankOf(cosines, index, dot(asked, unit(latentVector(model, rest))));
    yield;
  }
  // The mean reciprocal rank of an order at random.
  const chance = sample.reduce((sum, _, position) => sum + 1 / (position + 1), 0) / sample.length;
  if (questions < minQuestions || byWords / questions < 2 * chance) return undefined;
  return Math.max(0, byModel / questions - chance) / (byWords / questions - chance);
}

/** BM25 over a sample. */
class WordScores {
  readonly #postings = new Map<string, [text: number, count: number][]>();
  readonly #lengths: Float64Array;
  readonly #meanLength: number;

  constructor(sample: readonly SampledText[]) {
    this.#lengths = new Float64Array(sample.length);
    for (const [text, { counts }] of sample.entries()) {
      for (const [term, count] of counts) {
        this.#lengths[text]! += count;
        const known = this.#postings.get(term);
        if (known) known.push([text, count]);
        else this.#postings.set(term, [[text, count]]);
      }
    }
    this.#meanLength = Math.max(1, this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, sample.length));
  }

  /** The score of each text. */
  scores(question: TermCounts): Float64Array {
    const scores = new Float64Array(this.#lengths.length);
    for (const [term, weight] of question) {
      const rarity = weight * this.#rarity(term);
      for (const [text, count] of this.#postings.get(term) ?? []) {
        scores[text]! += rarity * this.#share(count, this.#lengths[text]!);
      }
    }
    return scores;
  }

  /** The score of a text that is given by its terms. */
  score(question: TermCounts, counts: TermCounts): number {
    let length = 0;
    for (const count of counts.values()) length += count;
    let score = 0;
    for (const [term, weight] of question) {
      score += weight * this.#rarity(term) * this.#share(counts.get(term) ?? 0, length);
    }
    return score;
  }

  #rarity(term: string): number {
    const having = this.#postings.get(term)?.length ?? 0;
    return Math.log(1 + (this.#lengths.length - having + 0.5) / (having + 0.5));
  }

  #share(count: number, length: number): number {
    return count / (count + k1 * (1 - b + (b * length) / this.#meanLength));
  }
}

/** Rank of one text among all by descending score, from 1. Texts of equal score share their ranks. */
function rankOf(scores: Float64Array, own: number, score: number): number {
  let rank = 1;
  for (let index = 0; index < scores.length; index++) {
    if (index !== own && scores[index]! >= score) rank += scores[index] === score ? 0.5 : 1;
  }
  return rank;
}

function unit(vector: Float32Array | undefined): Float32Array {
  if (!vector) return new Float32Array(0);
  const length = Math.hypot(...vector);
  return vector.map((part) => part / length);
}

/** 0 for a text of unknown words. */
function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < Math.min(one.length, other.length); index++) sum += one[index]! * other[index]!;
  return sum;
}
