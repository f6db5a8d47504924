// A posting is a slot and how often a term stands in the text of that slot. Slots of a list rise. One 16-bit number does
// for most: twelve bits of the distance to the slot before, four of the frequency. Where one of them does not fit, the
// four bits are 0 and hold nothing: then four more bits of the distance and eight of the frequency are in the number, and
// the distance's other sixteen in the next. Where that is too little as well, the first number is 0, and three follow:
// high and low half of the distance, and the frequency. Beside 32 bits a posting that is half the memory, read as fast.
//
// A frequency beyond 255 counts as 255: the score of a term that often is within 1% of its limit.
export const frequencyMask = 0xf;
export const stepShift = 4;
const greatestStep = 0xfff;
const greatestFrequency = 0xf;
const mostFrequency = 0xff;
const greatestLongStep = 2 ** 20 - 1;

const longestPosting = 4;

/** The slot that the first step of a list is counted from. */
export const beforeAll = -1;

/** Slots are 32-bit numbers with a sign. */
export const mostSlots = 2 ** 31 - 1;

/** Writes a posting that is `step` (1 or more) slots behind the one before to `numbers` from `at` on; returns its end. */
export function putPosting(numbers: Uint16Array, at: number, step: number, frequency: number): number {
  const counted = Math.min(frequency, mostFrequency);
  if (step <= greatestStep && counted <= greatestFrequency) {
    numbers[at] = (step << stepShift) | counted;
    return at + 1;
  }
  if (step <= greatestLongStep) {
    numbers[at] = ((step >> 16) << 12) | (counted << stepShift);
    numbers[at + 1] = step & 0xffff;
    return at + 2;
  }
  numbers[at] = 0;
  numbers[at + 1] = step >>> 16;
  numbers[at + 2] = step & 0xffff;
  numbers[at + 3] = counted;
  return at + longestPosting;
}

/** How many numbers `putPosting` writes. */
export function postingLength(step: number, frequency: number): number {
  if (step <= greatestStep && frequency <= greatestFrequency) return 1;
  return step <= greatestLongStep ? 2 : longestPosting;
}

/** Reads the postings of a list, one after the other. */
export class PostingReader {
  /** Of the posting that was read last. */
  slot: number;
  frequency = 0;
  /** Where the next posting is. */
  at: number;
  readonly #list: Uint16Array;

  /** Begins at index `at`, where the posting before is of `slot`. */
  constructor(list: Uint16Array, at = 0, slot = beforeAll) {
    this.#list = list;
    this.at = at;
    this.slot = slot;
  }

  /** False at the end. */
  next(): boolean {
    const list = this.#list;
    let at = this.at;
    if (at >= list.length) return false;
    const first = list[at++]!;
    let step = first >> stepShift;
    let frequency = first & frequencyMask;
    if (frequency === 0) {
      frequency = step & mostFrequency;
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
