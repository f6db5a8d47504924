import { Rotation } from "./rotation.js";

/** Bits of each number of a vector in a graph's memory. */
export type Bits = 4 | 8;

/** How the numbers of a vector stand in memory: each times the scale that belongs to them is near to the component. */
export interface Codes {
  /** Bytes of a vector's numbers, a multiple of 16. */
  readonly rowBytes: number;
  /** Bytes of a query's numbers. */
  readonly queryBytes: number;
  /** Writes a vector's numbers at an address. Returns their scale. */
  readonly writeRow: (vector: Float32Array, memory: Int8Array, index: number) => number;
  /** The same for a query, whose numbers may be finer. */
  readonly writeQuery: (vector: Float32Array, memory: Int8Array, position: number) => number;
}

/** Numbers are padded with zeros to a multiple of this many. */
const padding = 32;

export function codesOf(bits: Bits, dimension: number): Codes {
  return bits === 8 ? new Bytes(dimension) : new Nibbles(dimension);
}

/** Numbers from -127 to 127, for kernel.wat. */
class Bytes implements Codes {
  readonly rowBytes: number;
  readonly queryBytes: number;

  constructor(dimension: number) {
    this.rowBytes = this.queryBytes = Math.ceil(dimension / padding) * padding;
  }

  writeRow(vector: Float32Array, memory: Int8Array, index: number): number {
    const scale = largest(vector) / 127;
    for (let place = 0; place < vector.length; place++) memory[index + place] = Math.round(vector[place]! / scale);
    return scale;
  }

  writeQuery(vector: Float32Array, memory: Int8Array, index: number): number {
    return this.writeRow(vector, memory, index);
  }
}

/**
 * Width of a quantization step, in standard deviations. For normally distributed numbers and codes from -7 to 7, about this width has
 * the least mean squared error, 0.012. The few numbers beyond seven steps are clamped.
 */
const step = 0.35;

/** Sums of products with numbers up to 7 fit into 32 bits for some 150,000 dimensions. */
const maxQueryNumber = 2047;

/** Numbers from -7 to 7 of rotated vectors, two in a byte, in the order of kernel-4.wat. Those of a query have 16 bits. */
class Nibbles implements Codes {
  readonly rowBytes: number;
  readonly queryBytes: number;
  readonly #rotation: Rotation;
  readonly #rotated: Float64Array;
  readonly #numbers: Int8Array;

  constructor(dimension: number) {
    const padded = Math.ceil(dimension / padding) * padding;
    this.rowBytes = padded / 2;
    this.queryBytes = 2 * padded;
    this.#rotation = new Rotation(dimension);
    this.#rotated = new Float64Array(dimension);
    this.#numbers = new Int8Array(padded);
  }

  /** The scale makes the product with the vector itself exact, so that the similarity to others is not too small. */
  writeRow(vector: Float32Array, memory: Int8Array, index: number): number {
    const [rotated, numbers] = [this.#rotated, this.#numbers];
    this.#rotation.apply(vector, rotated);
    let squared = 0;
    for (let place = 0; place < rotated.length; place++) squared += rotated[place]! * rotated[place]!;
    const perStep = Math.sqrt(rotated.length / squared) / step;
    let product = 0;
    for (let place = 0; place < rotated.length; place++) {
      const number = Math.max(-7, Math.min(7, Math.round(rotated[place]! * perStep)));
      numbers[place] = number;
      product += rotated[place]! * number;
    }
    for (let block = 0, to = index; block < numbers.length; block += padding) {
      for (let place = block; place < block + 8; place++) {
        memory[to++] = (numbers[place]! & 15) | (numbers[place + 8]! << 4);
        memory[to++] = (numbers[place + 16]! & 15) | (numbers[place + 24]! << 4);
      }
    }
    return squared / product;
  }

  writeQuery(vector: Float32Array, memory: Int8Array, index: number): number {
    const rotated = this.#rotated;
    this.#rotation.apply(vector, rotated);
    const scale = largest(rotated) / maxQueryNumber;
    for (let place = 0; place < rotated.length; place++) {
      const number = Math.round(rotated[place]! / scale);
      memory[index + 2 * place] = number;
      memory[index + 2 * place + 1] = number >> 8;
    }
    return scale;
  }
}

function largest(vector: Float32Array | Float64Array): number {
  let max = 0;
  for (let index = 0; index < vector.length; index++) max = Math.max(max, Math.abs(vector[index]!));
  return max;
}
