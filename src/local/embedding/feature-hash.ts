/**
 * A signed 32-bit hash of a text (FNV-1a, then the finaliser of MurmurHash3, so that every bit depends on every letter).
 * http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function featureHash(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mix(hash);
}

/** Another hash of the same text, made of its first one. */
export function nextHash(hash: number): number {
  return mix(Math.imul(hash, 0x9e3779b1) + 0x7f4a7c15);
}

function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
