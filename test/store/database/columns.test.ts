import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeVector, dimensionOf, encodeVector } from "../../../src/store/database/columns.js";

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

test("a vector of words takes little more room than its components that are not zero, and no vector more than all of them", () => {
  const words = new Float32Array(1024);
  for (let at = 0; at < 1024; at += 8) words[at] = 1 + at;
  expect(encodeVector(words)).toHaveLength(4 + 1024 / 8 + 4 * 128 + 1);
  expect(encodeVector(new Float32Array(1024).fill(0.5))).toHaveLength(4 * 1024);
});

test("a packed vector whose header was altered, or that was cut, reads as some vector no longer than its bits", () => {
  const words = new Float32Array(1024);
  for (let at = 0; at < 1024; at += 8) words[at] = 1 + at;
  const stored = encodeVector(words);
  const flipped = Array.from({ length: 32 }, (_, bit) => {
    const altered = Buffer.from(stored);
    altered[bit >> 3]! ^= 1 << (bit & 7);
    return altered;
  });
  const cut = [1, 2, 3, 5, 9, 130].map((length) => Buffer.from(stored.subarray(0, length)));
  for (const altered of [...flipped, ...cut]) {
    const dimension = dimensionOf(altered);
    expect(dimension).toBeLessThanOrEqual(8 * altered.length);
    expect(decodeVector(altered)).toHaveLength(dimension);
  }
});
