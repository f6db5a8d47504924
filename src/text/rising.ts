/** Index of the first value of a rising array that is above `bound`; its length if there is none. */
export function firstAbove(values: Uint32Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
