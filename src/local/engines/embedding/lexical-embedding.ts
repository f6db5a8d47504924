import { RememberedPieces } from "../../../text/tables/remembered-pieces.js";
import { TextUnits } from "../../../text/tables/text-units.js";
import { terms } from "../../../text/words/terms.js";
import type { EmbeddingEngine } from "../engines.js";
import { pauses } from "../pause.js";
import { isUnspaced, rarity } from "../rarity.js";

/** Each word goes to this many places, so that two words rarely fall together in all of them. */
const placesPerWord = 4;

/** Letters in a piece of a word. Pieces let misspelt and inflected words meet. */
const pieceLetters = 4;
/** All pieces of a word together weigh this share of the word. One place for each is a quarter of the work, and finds as much. */
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
  if (counts.size === 0) addHashes(sums, wordHashes(text), 1 / Math.sqrt(placesPerWord));
  for (const [term, count] of counts) {
    const { word, wordPart, pieces, piecePart } = featuresOf(term);
    const counted = count < 1 ? count : 1 + Math.log(count);
    addHashes(sums, word, counted * wordPart);
    addHashes(sums, pieces, counted * piecePart);
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

/** The part of one term in a vector of any dimension: hashes that each stand for a place, and the number added to each. */
interface TermFeatures {
  readonly word: readonly number[];
  readonly wordPart: number;
  readonly pieces: readonly number[];
  readonly piecePart: number;
}

const noPieces: readonly number[] = [];

/** Texts of one language repeat their words. There are too many pairs of characters to remember, and less to do for one. */
function featuresOf(term: string): TermFeatures {
  return isUnspaced(term) ? features(term, noPieces) : knownWords.of(termUnits.read(term), 0, term.length);
}

const termUnits = new TextUnits();

const knownWords = new RememberedPieces<TermFeatures>((term) => {
  const marked = `^${term}$`;
  const count = marked.length - pieceLetters + 1;
  const hashed = Array.from({ length: count < 3 ? 0 : count }, (_, offset) =>
    featureHash(marked.slice(offset, offset + pieceLetters), 1),
  );
  return features(term, hashed);
});

function features(term: string, pieces: readonly number[]): TermFeatures {
  const weight = rarity(term);
  return {
    word: wordHashes(term),
    wordPart: weight / Math.sqrt(placesPerWord),
    pieces,
    piecePart: (weight * pieceWeight) / Math.sqrt(Math.max(1, pieces.length)),
  };
}

function wordHashes(term: string): readonly number[] {
  const hashes = [featureHash(term, 0)];
  while (hashes.length < placesPerWord) hashes.push(nextHash(hashes.at(-1)!));
  return hashes;
}

/** The hash's upper bit is the sign: features that fall together cancel as often as they add up. */
function addHashes(sums: Float64Array, hashes: readonly number[], part: number): void {
  for (const hash of hashes) {
    const place = (hash & 0x7fff_ffff) % sums.length;
    sums[place]! += hash < 0 ? part : -part;
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
  // A loop is used, since `from` with a function costs more than all the hashing.
  const vector = new Float32Array(sums.length);
  for (let index = 0; index < sums.length; index++) vector[index] = (sums[index] ?? 0) * scale;
  return vector;
}

/**
 * A signed 32-bit hash of a text (FNV-1a, then the finaliser of MurmurHash3, so that every bit depends on every letter).
 * http://www.isthe.com/chongo/tech/comp/fnv/
 */
function featureHash(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let offset = 0; offset < text.length; offset++) hash = Math.imul(hash ^ text.charCodeAt(offset), 0x01000193);
  return mix(hash);
}

/** Another hash of the same text, made of its first one. */
function nextHash(hash: number): number {
  return mix(Math.imul(hash, 0x9e3779b1) + 0x7f4a7c15);
}

function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
