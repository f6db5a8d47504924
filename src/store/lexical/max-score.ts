import type { Allowed } from "../derived/allowed-labels.js";
import type { TopK } from "../derived/top-k.js";
import { PostingCursor } from "./posting-cursor.js";
import { growthOfShares, type PostingList, type Saturation } from "./posting-list.js";

/** Texts that are searched together, by slot. Labels ascend. */
export interface SearchedTexts {
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  /** 1 for a removed text; undefined while none is. */
  readonly dead: Uint8Array | undefined;
  /** How frequencies saturated when the bounds of the lists were computed. */
  readonly boundsOf: Saturation;
}

/** A term of a query: its weight by rarity, and its postings in the texts that are searched. */
export interface WeighedList {
  readonly rarity: number;
  readonly list: PostingList;
}

export interface SlotConditions {
  /** Only these slots, which ascend. */
  readonly candidates?: Int32Array | undefined;
  /** Only texts with these labels. */
  readonly allowed?: Allowed | undefined;
  /** Minimum score of a result. */
  readonly minScore: number;
}

/** Work that was done, which is the same on every machine. */
export interface SearchCosts {
  /** Postings whose share of a score was computed. */
  scored: number;
}

/** Slots of a window: their sums fit into the fastest cache. */
const windowBits = 11;
const windowLength = 2 ** windowBits;

// Scratch space of the one search that runs. Allocated for each segment and search, it would leave 2 MB of garbage at a
// time.
const sums = new Float64Array(windowLength);
const marks = new Int32Array(windowLength / 32);

/** Floating-point sums differ by the order of their terms, by far less than this factor. */
export const roundingMargin = 1 + 1e-9;

/**
 * Offers the texts that may be among the best, in order of label. A score is the sum over the terms in the given order.
 *
 * Texts are taken in windows. With the bounds of the blocks in a window, the terms are divided: all postings of the first ones
 * are scored; what the others can add together is not enough for a text without any of the first, so that they are only
 * looked up, for the texts that may still be among the best. A window in which all terms together are not enough is skipped.
 * After the MaxScore of Turtle and Flood, "Query evaluation: strategies and optimizations", 1995, with the bounds of blocks
 * of Ding and Suel, "Faster top-k document retrieval using block-max indexes", 2011.
 */
export function offerBest(
  texts: SearchedTexts,
  terms: readonly WeighedList[],
  saturation: Saturation,
  { candidates, allowed, minScore }: SlotConditions,
  best: TopK,
  costs: SearchCosts,
): void {
  if (terms.length === 0) return;
  const { labels, lengths, boundsOf } = texts;
  const { flat, perLength } = saturation;
  const growth = growthOfShares(boundsOf, saturation);
  const cursors = terms.map(({ list }) => new PostingCursor(list));
  // A failed search may have left values behind.
  sums.fill(0);
  marks.fill(0);
  /** Upper bound on the score that each term and those after it can add. */
  const rest = new Float64Array(terms.length + 1);
  let candidate = 0;
  for (let from = 0; from < labels.length; from += windowLength) {
    const to = Math.min(from + windowLength, labels.length);
    const threshold = Math.max(minScore, best.minScore);
    for (let term = terms.length - 1; term >= 0; term--) {
      const share = Math.min(1, cursors[term]!.boundBetween(from, to) * growth);
      rest[term] = rest[term + 1]! + terms[term]!.rarity * share * roundingMargin;
    }
    if (rest[0]! < threshold || rest[0] === 0) continue;
    let essential = 0;
    if (candidates) {
      while (candidate < candidates.length && candidates[candidate]! < from) candidate++;
      for (; candidate < candidates.length && candidates[candidate]! < to; candidate++) {
        const index = candidates[candidate]! - from;
        marks[index >>> 5]! |= 1 << (index & 31);
      }
    } else {
      for (; essential < terms.length && rest[essential]! >= threshold; essential++) {
        const { rarity } = terms[essential]!;
        costs.scored += addShares(cursors[essential]!, rarity, saturation, from, to, texts, allowed);
      }
    }
    for (let word = 0; word < marks.length; word++) {
      for (let left = marks[word]!; left !== 0; left &= left - 1) {
        const position = (word << 5) + 31 - Math.clz32(left & -left);
        const slot = from + position;
        const wanted = Math.max(minScore, best.minScore);
        let score = sums[position]!;
        sums[position] = 0;
        for (let term = essential; term < terms.length; term++) {
          if (score + rest[term]! < wanted) {
            score = 0;
            break;
          }
          const frequency = cursors[term]!.frequencyIn(slot);
          if (frequency === 0) continue;
          costs.scored++;
          score += (terms[term]!.rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
        }
        if (score > 0) best.offer(labels[slot]!, score);
      }
      marks[word] = 0;
    }
  }
}

/** Adds a term's share to the texts of a window that have it. Returns the number of shares. The innermost loop of a search. */
function addShares(
  cursor: PostingCursor,
  rarity: number,
  { flat, perLength }: Saturation,
  from: number,
  to: number,
  { labels, lengths, dead }: SearchedTexts,
  allowed: Allowed | undefined,
): number {
  const { slots } = cursor;
  let scored = 0;
  for (let next = from; next < to && cursor.seek(next);) {
    let { at } = cursor;
    if (slots[at]! >= to) break;
    const { count, frequencies } = cursor;
    for (; at < count; at = (at + 1) | 0) {
      const slot = slots[at]!;
      if (slot >= to) break;
      if (dead !== undefined && dead[slot] !== 0) continue;
      if (allowed !== undefined && !allowed.has(labels[slot]!)) continue;
      const frequency = frequencies[at]!;
      const place = slot - from;
      sums[place]! += (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
      marks[place >>> 5]! |= 1 << (place & 31);
      scored = (scored + 1) | 0;
    }
    if (at < count) {
      cursor.at = at;
      break;
    }
    next = slots[count - 1]! + 1;
  }
  return scored;
}
