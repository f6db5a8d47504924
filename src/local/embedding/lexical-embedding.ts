import { terms } from "../../text/terms.js";
import type { EmbeddingEngine } from "../engines.js";
import { pauses } from "../pause.js";
import { isUnspaced, rarity } from "../rarity.js";
import { featureHash, nextHash } from "./feature-hash.js";

/** Each feature goes to this many places, so that two features rarely fall together in all of them. */
const placesPerFeature = 4;

/** Letters in a piece of a word. Pieces let misspelt and inflected words meet. */
const pieceLetters = 4;
const pieceWeight = 0.6;

/** A text opens with its title or its subject: its first terms weigh more, unless there is little else. */
const leadTerms = 12;
const leadWeight = 1.5;
const shortTextTerms = 30;

/**
 * Vectors from hashed words: no weights, no training, the same on every machine. Texts are near one another when they
 * share rare words or pieces of words, whatever they mean. Weinberger et al., "Feature hashing for large scale multitask
 * learning", ICML 2009, with several places a feature after Kane and Nelson, "Sparser Johnson-Lindenstrauss transforms".
 */
export function lexicalEmbedding(): EmbeddingEngine {
  return {
    embed: async (texts, { dimension, signal }) => {
      const pause = pauses(signal);
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        vectors.push(lexicalVector(text, dimension));
        await pause();
      }
      return vectors;
    },
  };
}

/** The vector of one text, of length 1. A text without words is hashed as a whole: equal texts are always equal vectors. */
export function lexicalVector(text: string, dimension: number): Float32Array {
  const counts = termCounts(text);
  const sums = new Float64Array(dimension);
  if (counts.size === 0) addFeature(sums, featureHash(text, 0), 1);
  for (const [term, count] of counts) {
    const weight = rarity(term) * (count < 1 ? count : 1 + Math.log(count));
    addFeature(sums, featureHash(term, 0), weight);
    if (!isUnspaced(term)) addPieces(sums, term, weight);
  }
  return normalised(sums);
}

function termCounts(text: string): ReadonlyMap<string, number> {
  const found = terms(text);
  const lead = found.length > shortTextTerms ? leadTerms : 0;
  const counts = new Map<string, number>();
  for (const [index, term] of found.entries()) {
    counts.set(term, (counts.get(term) ?? 0) + (index < lead ? leadWeight : 1));
  }
  return counts;
}

/** The pieces of one word weigh together as much as `pieceWeight` of the word. */
function addPieces(sums: Float64Array, term: string, weight: number): void {
  const marked = `^${term}$`;
  const count = marked.length - pieceLetters + 1;
  if (count < 3) return;
  const share = (weight * pieceWeight) / Math.sqrt(count);
  for (let at = 0; at < count; at++) addFeature(sums, featureHash(marked.slice(at, at + pieceLetters), 1), share);
}

/** The hash's upper bit is the sign: features that fall together cancel as often as they add up. */
function addFeature(sums: Float64Array, hash: number, weight: number): void {
  let current = hash;
  for (let place = 0; place < placesPerFeature; place++) {
    const index = (current & 0x7fff_ffff) % sums.length;
    sums[index] = (sums[index] ?? 0) + (current >>> 31 === 1 ? weight : -weight);
    current = nextHash(current);
  }
}

function normalised(sums: Float64Array): Float32Array {
  let squares = 0;
  for (const value of sums) squares += value * value;
  // Places of the one feature there is can cancel in a tiny dimension; such a text still needs a direction.
  if (squares === 0) {
    sums[0] = 1;
    squares = 1;
  }
  const scale = 1 / Math.sqrt(squares);
  return Float32Array.from(sums, (value) => value * scale);
}
