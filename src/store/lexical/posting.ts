// A posting is a slot of 24 bits and a frequency of 8. A frequency beyond 255 counts as 255: the score of a word that
// often is within 1% of its limit.
const frequencyBits = 8;
const mostFrequency = 255;
export const mostSlots = 2 ** 24;

/** Postings of one term lie by rising slot. */
export function postingOf(slot: number, frequency: number): number {
  return slot * 2 ** frequencyBits + Math.min(frequency, mostFrequency);
}

export function slotOf(posting: number): number {
  return posting >>> frequencyBits;
}

export function frequencyOf(posting: number): number {
  return posting & mostFrequency;
}

/** Index of the posting of `slot`, or of the first behind it, from index `from` on: looks in steps that double. */
export function indexOfSlot(list: Uint32Array, slot: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < list.length && slotOf(list[low + step]!) < slot) {
    low += step;
    step *= 2;
  }
  let high = Math.min(list.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (slotOf(list[middle]!) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
