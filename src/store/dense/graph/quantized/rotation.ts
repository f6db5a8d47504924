import { spread } from "./spread.js";

/**
 * A fixed rotation of the space, the same in every process: it spreads what a vector holds in a few components over all of
 * them, so that numbers of few bits say as much about every vector as about one of normally distributed components. Cosines
 * stay as they are.
 *
 * Components change their signs as if by chance, and a Hadamard transform mixes them; its length is a power of two, so that
 * another length takes two, which overlap.
 */
export class Rotation {
  readonly #length: number;
  readonly #mixed: number;
  readonly #signs: readonly Float32Array[];

  constructor(length: number) {
    this.#length = length;
    this.#mixed = 2 ** Math.floor(Math.log2(length));
    this.#signs = [signsOf(length, 1), signsOf(length, 2)];
  }

  /** Writes the rotated `vector` to `to`, which has its length. */
  apply(vector: Float32Array, to: Float64Array): void {
    const [first, second] = this.#signs;
    for (let index = 0; index < vector.length; index++) to[index] = vector[index]! * first![index]!;
    this.#mix(to, 0);
    if (this.#mixed === this.#length) return;
    for (let position = 0; position < to.length; position++) to[position]! *= second![position]!;
    this.#mix(to, this.#length - this.#mixed);
  }

  /** The Hadamard transform of the numbers from `start` on, scaled so that it keeps lengths. */
  #mix(numbers: Float64Array, start: number): void {
    const end = start + this.#mixed;
    let distance = 1;
    // Two steps at once take half of the reading and writing.
    for (; 4 * distance <= this.#mixed; distance *= 4) {
      for (let block = start; block < end; block += 4 * distance) {
        for (let index = block; index < block + distance; index++) {
          const [second, third, fourth] = [index + distance, index + 2 * distance, index + 3 * distance];
          const left = numbers[index]! + numbers[second]!;
          const leftLess = numbers[index]! - numbers[second]!;
          const right = numbers[third]! + numbers[fourth]!;
          const rightLess = numbers[third]! - numbers[fourth]!;
          numbers[index] = left + right;
          numbers[second] = leftLess + rightLess;
          numbers[third] = left - right;
          numbers[fourth] = leftLess - rightLess;
        }
      }
    }
    if (distance < this.#mixed) {
      for (let position = start; position < start + distance; position++) {
        const [left, right] = [numbers[position]!, numbers[position + distance]!];
        numbers[position] = left + right;
        numbers[position + distance] = left - right;
      }
    }
    const scale = 1 / Math.sqrt(this.#mixed);
    for (let offset = start; offset < end; offset++) numbers[offset]! *= scale;
  }
}

/** 1 or -1 for each component. */
function signsOf(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, index) => ((spread(index + seed * 0x9e3779b9) & 1) === 0 ? 1 : -1));
}
