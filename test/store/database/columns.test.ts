import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodeVector,
  dimensionOf,
  encodeVector,
  vectorDecoder,
  wholeVector,
} from "../../../src/store/database/columns.js";

const bitsOf = (vector: Float32Array) => [...new Uint32Array(vector.buffer, vector.byteOffset, vector.length)];

test("a vector reads as it was written, to the last bit, however many of its components are zero", () => {
  const component = fc.oneof(fc.constant(0), fc.constant(0), fc.constant(-0), fc.float());
  fc.assert(
    fc.property(fc.array(component, { minLength: 1, maxLength: 200 }), (components) => {
      const vector = Float32Array.from(components);
      const stored = encodeVector(vector);
      expect(dimensionOf(stored)).toBe(vector.length);
      expect(bitsOf(decodeVector(Buffer.from(stored)))).toEqual(bitsOf(vector));
      // Wherever SQLite puts it.
      expect(bitsOf(decodeVector(Buffer.concat([Buffer.of(1), stored]).subarray(1)))).toEqual(bitsOf(vector));
    }),
  );
});

test("vectors decoded one after another into the same memory read as they were written, in whatever form each is stored", () => {
  const component = fc.oneof(fc.constant(0), fc.constant(0), fc.constantFrom(1, 2), fc.float());
  const vectors = fc.array(fc.array(component, { minLength: 40, maxLength: 42 }), { maxLength: 8 });
  fc.assert(
    fc.property(vectors, (written) => {
      const decoded = vectorDecoder();
      for (const components of written) {
        const vector = Float32Array.from(components);
        const stored = encodeVector(vector);
        // Somewhere in a buffer of several.
        const read = decoded(Buffer.concat([Buffer.of(1), stored, Buffer.of(1)]), 1, 1 + stored.length);
        expect(bitsOf(read instanceof Float32Array ? read : wholeVector(read))).toEqual(bitsOf(vector));
      }
    }),
  );
});

test("a vector of few or many values reads as it was written, whatever the number of its components", () => {
  const sizes = fc.record({ zeros: fc.nat({ max: 900 }), kept: fc.nat({ max: 600 }), values: fc.nat({ max: 300 }) });
  fc.assert(
    fc.property(sizes, ({ zeros, kept, values }) => {
      const vector = new Float32Array(zeros + kept);
      for (let at = 0; at < kept; at++) vector[Math.floor((at * vector.length) / kept)] = 0.5 + (at % (values + 1));
      const stored = encodeVector(vector);
      expect(dimensionOf(stored)).toBe(vector.length);
      expect(bitsOf(decodeVector(stored))).toEqual(bitsOf(vector));
    }),
  );
});

test("a vector of words takes little more room than its components that are not zero, and no vector more than all of them", () => {
  const words = new Float32Array(1024);
  for (let at = 0; at < 1024; at += 8) words[at] = 1 + at;
  expect(encodeVector(words)).toHaveLength(4 + 1024 / 8 + 4 * 128 + 1);
  for (let at = 0; at < 1024; at += 8) words[at] = 1 + (at % 256);
  expect(encodeVector(words)).toHaveLength(4 + 1024 / 8 + 4 * 32 + 128 + 2);
  expect(encodeVector(new Float32Array(1024).fill(0.5))).toHaveLength(4 * 1024);
});

test("a packed vector whose header was altered, or that was cut, reads as some vector no longer than its bits", () => {
  for (const values of [1024, 64]) {
    const words = new Float32Array(1024);
    for (let at = 0; at < 1024; at += 8) words[at] = 1 + (at % values);
    const stored = encodeVector(words);
    const bits = [...Array(32).keys(), ...Array.from({ length: 8 }, (_, at) => 8 * (stored.length - 1) + at)];
    const flipped = bits.map((bit) => {
      const altered = Buffer.from(stored);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      return altered;
    });
    const cut = [1, 2, 3, 5, 6, 9, 10, 130].map((length) => Buffer.from(stored.subarray(0, length)));
    for (const altered of [...flipped, ...cut]) {
      const dimension = dimensionOf(altered);
      expect(dimension).toBeLessThanOrEqual(8 * altered.length);
      expect(decodeVector(altered)).toHaveLength(dimension);
    }
  }
});
