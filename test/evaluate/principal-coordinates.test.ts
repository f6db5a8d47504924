import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.js";
import { principalCoordinates } from "../../src/evaluate/principal-coordinates.js";

const random = seededRandom(5);
const component = () => random() - 0.5;

/** The same vector, scaled to length 1. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

test("vectors that differ in a plane keep their distances, and the plane has all of their variance", () => {
  const dimension = 40;
  const vectors = Array.from({ length: 30 }, () => {
    const [angle, vector] = [2 * Math.PI * random(), new Float32Array(dimension)];
    vector[3] = Math.cos(angle);
    vector[17] = Math.sin(angle);
    // Search compares directions, so that a length of 1 to 5 must not matter.
    return vector.map((value) => value * (1 + 4 * random()));
  });
  const { points, explained } = principalCoordinates(vectors);
  expect(explained[0] + explained[1]).toBeCloseTo(1, 6);
  for (const [index, [x, y]] of points.entries()) {
    const [firstX, firstY] = points[0]!;
    const distance = Math.hypot(...unit(vectors[index]!).map((value, at) => value - unit(vectors[0]!)[at]!));
    expect(Math.hypot(x - firstX, y - firstY)).toBeCloseTo(distance, 5);
  }
});

test("no other direction has more variance than the first", () => {
  const vectors = Array.from({ length: 80 }, () =>
    unit(Float32Array.from({ length: 12 }, (_, at) => component() * (at + 1))),
  );
  const { points, explained } = principalCoordinates(vectors);
  const mean = Float32Array.from({ length: 12 }, (_, at) => vectors.reduce((sum, vector) => sum + vector[at]!, 0) / 80);
  const along = (axis: Float32Array) =>
    vectors.reduce(
      (sum, vector) => sum + vector.reduce((dot, value, at) => dot + (value - mean[at]!) * axis[at]!, 0) ** 2,
      0,
    );
  const first = points.reduce((sum, [x]) => sum + x * x, 0);
  for (let trial = 0; trial < 2000; trial++) {
    expect(along(unit(Float32Array.from({ length: 12 }, component)))).toBeLessThanOrEqual(first * (1 + 1e-6));
  }
  expect(explained[0]).toBeGreaterThan(explained[1]);
});

test.each([
  ["no vector", []],
  ["one", [Float32Array.of(1, 2)]],
  ["equal ones", [Float32Array.of(1, 2), Float32Array.of(2, 4)]],
])("%s: all points are in one place", (_, vectors) => {
  expect(principalCoordinates(vectors)).toEqual({ points: vectors.map(() => [0, 0]), explained: [0, 0] });
});
