// A posting is a slot and the frequency of a term in the text of that slot. Slots ascend within a list. Most postings take
// one 16-bit number: twelve bits for the distance to the previous slot, four for the frequency. If either does not fit, the
// four bits are 0, the other twelve hold the high four bits of the distance and eight of the frequency, and the next number
// holds the low sixteen bits of the distance. If that does not suffice either, the first number is 0 and three follow: the
// high and the low half of the distance, and the frequency. Compared with 32 bits a posting, this takes half the memory and
// is read as fast.
//
// A frequency above 255 counts as 255: the score of such a term is within 1% of its limit.
export const frequencyMask = 0xf;
export const stepShift = 4;
const maxShortStep = 0xfff;
const maxShortFrequency = 0xf;
const maxFrequency = 0xff;
const maxLongStep = 2 ** 20 - 1;

const maxPostingLength = 4;

/** The slot from which the first step of a list is counted. */
export const beforeFirst = -1;

/** Slots are signed 32-bit numbers. */
export const maxSlots = 2 ** 31 - 1;

/** Writes a posting, `step` (1 or more) slots after the previous one, to `numbers` from `at` on. Returns its end. */
export function putPosting(numbers: Uint16Array, at: number, step: number, frequency: number): number {
  const counted = Math.min(frequency, maxFrequency);
  if (step <= maxShortStep && counted <= maxShortFrequency) {
    numbers[at] = (step << stepShift) | counted;
    return at + 1;
  }
  if (step <= maxLongStep) {
    numbers[at] = ((step >> 16) << 12) | (counted << stepShift);
    numbers[at + 1] = step & 0xffff;
    return at + 2;
  }
  numbers[at] = 0;
  numbers[at + 1] = step >>> 16;
  numbers[at + 2] = step & 0xffff;
  numbers[at + 3] = counted;
  return at + maxPostingLength;
}

/** Count of numbers that `putPosting` writes. */
export function postingLength(step: number, frequency: number): number {
  if (step <= maxShortStep && frequency <= maxShortFrequency) return 1;
  return step <= maxLongStep ? 2 : maxPostingLength;
}

/** Reads the postings of a list in order. */
export class PostingReader {
  /** Slot of the last posting read. */
  slot: number;
  frequency = 0;
  /** Index of the next posting. */
  at: number;
  readonly #list: Uint16Array;

  /** Begins at index `at`, after a posting for `slot`. */
  constructor(list: Uint16Array, at = 0, slot = beforeFirst) {
    this.#list = list;
    this.at = at;
    this.slot = slot;
  }

  /** Returns false at the end. */
  next(): boolean {
    const list = this.#list;
    let at = this.at;
    if (at >= list.length) return false;
    const first = list[at++]!;
    let step = first >> stepShift;
    let frequency = first & frequencyMask;
    if (frequency === 0) {
      frequency = step & maxFrequency;
      step = ((first >> 12) << 16) | list[at++]!;
      if (frequency === 0) {
        step = (step << 16) | list[at++]!;
        frequency = list[at++]!;
      }
    }
    this.at = at;
    this.slot = (this.slot + step) | 0;
    this.frequency = frequency;
    return true;
  }
}
