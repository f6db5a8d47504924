import { expect, test } from "vitest";
import { gaussian } from "../../../../src/conformance/made-documents.js";
import { dot, normalised } from "../../../../src/store/database/vectors.js";
import type { Bits } from "../../../../src/store/dense/graph/quantized/codes.js";
import { GraphMemory, sharedGraph } from "../../../../src/store/dense/graph/quantized/graph-memory.js";
import { Rotation } from "../../../../src/store/dense/graph/quantized/rotation.js";
import { seededRandom } from "../../../support/seeded-random.js";

const dimensions = [1, 2, 31, 32, 33, 100, 384, 1024];
const next = seededRandom(7);
const evenly = (dimension: number) => Float32Array.from({ length: dimension }, () => gaussian(next));
const kinds: Readonly<Record<string, (dimension: number) => Float32Array>> = {
  "evenly distributed": evenly,
  "with one component": (dimension) => new Float32Array(dimension).fill(1, 3, 4),
  "with a large component": (dimension) => evenly(dimension).map((number, at) => (at === 5 ? 30 : number)),
  "of equal components": (dimension) => new Float32Array(dimension).fill(1),
};

function memoryOf(bits: Bits, vectors: readonly Float32Array[]): GraphMemory {
  const memory = new GraphMemory(sharedGraph(bits, vectors[0]!.length, 16), 0);
  for (const [at, vector] of vectors.entries()) memory.append(at + 1, vector, 0);
  return memory;
}

/** The numbers of a slot, taken out of its bytes one by one. */
function numbersOf(memory: GraphMemory, slot: number): number[] {
  const { bits, dimension, records } = memory.shared;
  const bytes = new DataView(records.buffer, memory.rowOf(slot));
  return Array.from({ length: dimension }, (_, at) => {
    if (bits === 8) return bytes.getInt8(at);
    const word = bytes.getUint16(2 * (8 * Math.floor(at / 32) + (at % 8)), true);
    return ((word << (28 - 4 * (Math.floor(at / 8) % 4))) | 0) >> 28;
  });
}

const sumOfProducts = (left: readonly number[], right: readonly number[]) =>
  left.reduce((sum, number, at) => sum + number * right[at]!, 0);

test.each([4, 8] as const)("rows of %d bits are compared exactly as one by one", (bits) => {
  for (const dimension of dimensions) {
    const memory = memoryOf(
      bits,
      Array.from({ length: 11 }, () => normalised(evenly(dimension))),
    );
    const numbers = Array.from({ length: 11 }, (_, slot) => numbersOf(memory, slot));
    // Twice: a row may stand ready as a query from the call before.
    for (const slot of [3, 3, 0, 10, 3]) {
      const expected = numbers.map((other, at) =>
        Math.fround(sumOfProducts(numbers[slot]!, other) * memory.scaleOf(at)),
      );
      memory.slots.set(Array.from(numbers.keys()));
      expect(Array.from(memory.similarities(memory.rowOf(slot), 11).subarray(0, 11))).toEqual(expected);
      const others = expected.filter((_, at) => at !== slot);
      memory.slots.set(Array.from(numbers.keys()).filter((at) => at !== slot));
      const greatest = Math.max(...others);
      expect(memory.anyAbove(memory.rowOf(slot), 10, greatest)).toBe(false);
      expect(memory.anyAbove(memory.rowOf(slot), 10, greatest - 1e-3)).toBe(true);
      expect(memory.anyAbove(memory.rowOf(slot), 0, -Infinity)).toBe(false);
    }
  }
});

test.each(Object.entries(kinds))("4 bits keep the direction of vectors %s", (_, make) => {
  for (const dimension of [64, 100, 384, 1024]) {
    const vector = normalised(make(dimension));
    const memory = memoryOf(4, [vector]);
    const rotated = new Float64Array(dimension);
    new Rotation(dimension).apply(vector, rotated);
    const row = numbersOf(memory, 0);
    const cosine = sumOfProducts(row, Array.from(rotated)) / Math.sqrt(sumOfProducts(row, row));
    expect(cosine).toBeGreaterThan(0.99);
    // The similarity to itself, which rounding must not make smaller than it is to others.
    const scale = memory.writeQuery(vector);
    memory.slots[0] = 0;
    expect(memory.similarities(memory.queryAt, 1)[0]! * scale).toBeCloseTo(1, 3);
  }
});

test("a rotation keeps the angle of any two vectors", () => {
  for (const dimension of dimensions) {
    const rotation = new Rotation(dimension);
    const [left, right] = [normalised(evenly(dimension)), normalised(evenly(dimension))];
    const [leftRotated, rightRotated] = [new Float64Array(dimension), new Float64Array(dimension)];
    rotation.apply(left, leftRotated);
    rotation.apply(right, rightRotated);
    const [leftNumbers, rightNumbers] = [Array.from(leftRotated), Array.from(rightRotated)];
    expect(sumOfProducts(leftNumbers, rightNumbers)).toBeCloseTo(dot(left, right), 5);
    expect(sumOfProducts(leftNumbers, leftNumbers)).toBeCloseTo(1, 5);
  }
});

test("a rotation is what it was when graphs were saved", () => {
  const rotated = (dimension: number) => {
    const to = new Float64Array(dimension);
    new Rotation(dimension).apply(
      Float32Array.from({ length: dimension }, (_, at) => at + 1),
      to,
    );
    return Array.from(to, (number) => Number(number.toFixed(4)));
  };
  expect(rotated(4)).toMatchInlineSnapshot(`
    [
      -4,
      2,
      3,
      1,
    ]
  `);
  expect(rotated(7)).toMatchInlineSnapshot(`
    [
      4,
      2,
      -3,
      -3.5,
      -1.5,
      9.5,
      -2.5,
    ]
  `);
});
