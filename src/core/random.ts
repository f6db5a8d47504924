/**
 * A stream of pseudo-random numbers, 0 to below 1, the same for the same seed on every machine: 32-bit xorshift after
 * Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
 */
export function seededRandom(seed: number): () => number {
  // The generator stands still at 0; multiplying keeps neighbouring seeds apart.
  let state = Math.imul(seed | 0, 0x9e3779b1) || 0x9e3779b1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // The first numbers of a seed with few bits set are small.
  for (let round = 0; round < 8; round++) next();
  return next;
}
