import { remember } from "../../text/remember.js";
import { terms } from "../../text/terms.js";
import type { EmbeddingEngine } from "../engines.js";
import { pauses } from "../pause.js";
import { isUnspaced, rarity } from "../rarity.js";
import { featureHash, nextHash } from "./feature-hash.js";

/** Each word goes to this many places, so that two words rarely fall together in all of them. */
const placesPerWord = 4;
/** Pieces are many and light; one place each is a quarter of the work, and finds as much. */
const placesPerPiece = 1;

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
  if (counts.size === 0) addFeature(sums, featureHash(text, 0), 1, placesPerWord);
  for (const [term, count] of counts) {
    const { word, pieces, share, weight } = featuresOf(term);
    const counted = weight * (count < 1 ? count : 1 + Math.log(count));
    addFeature(sums, word, counted, placesPerWord);
    for (const piece of pieces) addFeature(sums, piece, counted * share, placesPerPiece);
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

/** What one term adds to a vector of any dimension. */
interface TermFeatures {
  readonly weight: number;
  readonly word: number;
  readonly pieces: Uint32Array;
  /** Weight of one piece, as a share of the word's: all together they weigh `pieceWeight`. */
  readonly share: number;
}

/** Texts of one language repeat their words: most terms are hashed once. */
const featuresOf: (term: string) => TermFeatures = remember(32_768, (term: string): TermFeatures => {
  const marked = `^${term}$`;
  const count = marked.length - pieceLetters + 1;
  const cut = count < 3 || isUnspaced(term) ? 0 : count;
  return {
    weight: rarity(term),
    word: featureHash(term, 0),
    pieces: Uint32Array.from({ length: cut }, (_, at) => featureHash(marked.slice(at, at + pieceLetters), 1)),
    share: pieceWeight / Math.sqrt(Math.max(1, cut)),
  };
});

/** The hash's upper bit is the sign: features that fall together cancel as often as they add up. */
function addFeature(sums: Float64Array, hash: number, weight: number, places: number): void {
  const part = weight / Math.sqrt(places);
  let current = hash;
  for (let place = 0; place < places; place++) {
    const index = (current & 0x7fff_ffff) % sums.length;
    sums[index] = (sums[index] ?? 0) + (current >>> 31 === 1 ? part : -part);
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
  // A loop, since `from` with a function costs more than all the hashing.
  const vector = new Float32Array(sums.length);
  for (let at = 0; at < sums.length; at++) vector[at] = (sums[at] ?? 0) * scale;
  return vector;
}
