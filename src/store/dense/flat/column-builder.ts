import { type SparseVector, wholeVector } from "../../database/columns.js";
import { normalised } from "../../database/vectors.js";
import { type Columns, wordsFor } from "./column-index.js";
import { scaleOf } from "./flat-index.js";

/** Components that a name of two bytes tells apart, and rows put in order at once. */
export const maxColumns = 65_536;
const rowsPerStep = 256;

/** Collects vectors by row, and puts them in order by component. */
export class ColumnBuilder {
  readonly #dimension: number;
  #labels = new Uint32Array(256);
  #scales = new Float32Array(256);
  #valuesAt = new Uint32Array(256);
  /** Where each row's places and names begin. */
  #placesAt = new Uint32Array(256);
  #places = new Uint16Array(4096);
  #names = new Uint16Array(4096);
  #values = new Float32Array(4096);
  #rows = 0;
  #kept = 0;
  #distinct = 0;
  #maxName = 0;
  readonly #namesOf: ValueNames;

  /** @param dimension at most `maxColumns`. */
  constructor(dimension: number) {
    this.#dimension = dimension;
    this.#namesOf = new ValueNames(dimension);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Labels ascend. Components beyond the dimension, which damaged vectors may have, are left out. */
  add(label: number, vector: Float32Array | SparseVector): void {
    const scale = scaleOf(squaredLength(vector, this.#dimension));
    this.#reserve();
    const row = this.#rows++;
    this.#labels[row] = label;
    this.#scales[row] = scale ?? 1;
    this.#valuesAt[row] = this.#distinct;
    this.#placesAt[row] = this.#kept;
    this.#namesOf.begin();
    const kept = scale === undefined ? normalised(wholeVector(vector)) : vector;
    forEachValue(kept, this.#dimension, (place, value) => {
      const name = this.#namesOf.of(value);
      if (name === this.#distinct - this.#valuesAt[row]!) this.#values[this.#distinct++] = value;
      if (name > this.#maxName) this.#maxName = name;
      this.#places[this.#kept] = place;
      this.#names[this.#kept++] = name;
    });
  }

  /** The vectors by component, made in short steps. */
  *columns(): Generator<void, Columns> {
    const [rows, dimension, words] = [this.#rows, this.#dimension, wordsFor(this.#rows)];
    const namesAt = new Uint32Array(dimension + 1);
    for (let index = 0; index < this.#kept; index++) namesAt[this.#places[index]! + 1]!++;
    for (let position = 0; position < dimension; position++) namesAt[position + 1]! += namesAt[position]!;
    yield;
    const next = namesAt.slice();
    const bits = new Uint32Array(words * dimension);
    const names = this.#maxName < 256 ? new Uint8Array(this.#kept) : new Uint16Array(this.#kept);
    for (let row = 0; row < rows; row++) {
      const end = row + 1 < rows ? this.#placesAt[row + 1]! : this.#kept;
      for (let offset = this.#placesAt[row]!; offset < end; offset++) {
        const place = this.#places[offset]!;
        bits[place * words + (row >>> 5)]! |= 1 << (row & 31);
        names[next[place]!++] = this.#names[offset]!;
      }
      if (row % rowsPerStep === 0) yield;
    }
    const valuesAt = new Uint32Array(rows + 1);
    valuesAt.set(this.#valuesAt.subarray(0, rows));
    valuesAt[rows] = this.#distinct;
    const [labels, scales] = [this.#labels.subarray(0, rows), this.#scales.subarray(0, rows)];
    return {
      dimension,
      labels,
      scales,
      valuesAt,
      values: this.#values.subarray(0, this.#distinct),
      namesAt,
      bits,
      names,
    };
  }

  /** Makes room for one more row, however long it is. */
  #reserve(): void {
    if (this.#rows === this.#labels.length) {
      this.#labels = grown(this.#labels, new Uint32Array(2 * this.#rows));
      this.#scales = grown(this.#scales, new Float32Array(2 * this.#rows));
      this.#valuesAt = grown(this.#valuesAt, new Uint32Array(2 * this.#rows));
      this.#placesAt = grown(this.#placesAt, new Uint32Array(2 * this.#rows));
    }
    if (this.#kept + this.#dimension > this.#places.length) {
      const length = Math.ceil(1.5 * this.#kept) + this.#dimension;
      this.#places = grown(this.#places, new Uint16Array(length));
      this.#names = grown(this.#names, new Uint16Array(length));
    }
    if (this.#distinct + this.#dimension > this.#values.length) {
      this.#values = grown(this.#values, new Float32Array(Math.ceil(1.5 * this.#distinct) + this.#dimension));
    }
  }
}

/** Numbers the values of one row after the other, in the order in which they occur. */
class ValueNames {
  readonly #number = new Float32Array(1);
  readonly #bits = new Uint32Array(this.#number.buffer);
  readonly #mask: number;
  readonly #keys: Uint32Array;
  readonly #names: Uint16Array;
  /** The row in which a slot was last used. */
  readonly #usedIn: Uint32Array;
  #row = 0;
  #count = 0;

  constructor(maxValues: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * maxValues + 2));
    this.#mask = slots - 1;
    this.#keys = new Uint32Array(slots);
    this.#names = new Uint16Array(slots);
    this.#usedIn = new Uint32Array(slots);
  }

  begin(): void {
    this.#row++;
    this.#count = 0;
  }

  of(value: number): number {
    this.#number[0] = value;
    const key = this.#bits[0]!;
    // The upper bits of a product with 2^32 over the golden ratio depend on all bits of the key.
    let slot = (Math.imul(key, 0x9e37_79b1) >>> 12) & this.#mask;
    while (this.#usedIn[slot] === this.#row) {
      if (this.#keys[slot] === key) return this.#names[slot]!;
      slot = (slot + 1) & this.#mask;
    }
    this.#usedIn[slot] = this.#row;
    this.#keys[slot] = key;
    return (this.#names[slot] = this.#count++);
  }
}

function forEachValue(
  vector: Float32Array | SparseVector,
  dimension: number,
  use: (place: number, value: number) => void,
): void {
  const [places, values] = vector instanceof Float32Array ? [undefined, vector] : [vector.places, vector.values];
  const count = vector instanceof Float32Array ? vector.length : vector.count;
  for (let index = 0; index < count; index++) {
    const place = places ? places[index]! : index;
    if (values[index] !== 0 && place < dimension) use(place, values[index]!);
  }
}

function squaredLength(vector: Float32Array | SparseVector, dimension: number): number {
  let sum = 0;
  forEachValue(vector, dimension, (_, value) => {
    sum += value ** 2;
  });
  return sum;
}

function grown<Numbers extends Uint16Array | Uint32Array | Float32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
