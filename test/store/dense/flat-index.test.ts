import fc from "fast-check";
import { expect, test } from "vitest";
import { createKernel } from "../../../src/store/dense/flat/kernel.js";
import { FlatIndex } from "../../../src/store/dense/flat/flat-index.js";
import { createRowBlock, rowsPerScan } from "../../../src/store/dense/flat/row-block.js";
import { sparseBlock } from "../../../src/store/dense/flat/sparse-block.js";
import { encodeVector, vectorDecoder } from "../../../src/store/database/columns.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { allowedOf } from "../derived/allowed-of.js";
import { cosine, gaussian } from "../../../src/conformance/made-documents.js";
import { seededRandom } from "../../support/seeded-random.js";

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("add" as const), label: fc.integer({ min: 1, max: 40 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("remove" as const), label: fc.integer({ min: 1, max: 40 }) }),
    },
  ),
  { maxLength: 120 },
);

const plainBlock = (dimension: number) => createRowBlock(dimension, true);

for (const [block, createBlock] of Object.entries({
  WebAssembly: createRowBlock,
  plain: plainBlock,
  sparse: sparseBlock,
})) {
  test(`flat search finds what a full scan finds after any additions and removals (${block})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 70 }),
        steps,
        fc.integer({ min: 1, max: 50 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
        fc.integer(),
        async (dimension, history, count, allowed, seed) => {
          const next = seededRandom(seed);
          // Vectors have any length that 32-bit floats can express, far beyond what their squares can.
          const vector = () => {
            const size = 10 ** (60 * next() - 30);
            const isZero = next() < 0.5 ? () => false : () => next() < 0.8;
            return Float32Array.from({ length: dimension }, (_, at) =>
              at > 0 && isZero() ? 0 : size * gaussian(next),
            );
          };
          const decoded = vectorDecoder();
          const index = new FlatIndex(dimension, createBlock);
          const model = new Map<number, Float32Array>();
          for (const { kind, label } of history) {
            if (kind === "remove") {
              index.remove(label);
              model.delete(label);
              continue;
            }
            const made = vector();
            // Half of the vectors are added as they are, half as the store decodes them.
            index.add(label, next() < 0.5 ? made : decoded(encodeVector(made)));
            model.set(label, made);
          }
          const query = normalised(vector());
          for (const among of [undefined, allowed]) {
            const scan = [...model]
              .filter(([label]) => !among || among.includes(label))
              .map(([label, stored]) => ({ label, score: cosine(query, stored) }))
              .toSorted((a, b) => b.score - a.score || a.label - b.label)
              .slice(0, count);
            const { labels, scores } = await index.search(query, count, among && allowedOf(among));
            // Vectors that are equally near to the last digit may swap places; in one dimension all are.
            expect([...scores]).toEqual(scan.map(({ score }) => expect.closeTo(score, 5)));
            const exact = Array.from(labels, (label) => cosine(query, model.get(label)!));
            expect(exact).toEqual(Array.from(scores, (score) => expect.closeTo(score, 5)));
            expect(new Set(labels).size).toBe(labels.length);
            for (const label of labels) expect(!among || among.includes(label)).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
}

test("the kernel works here, and agrees with plain JavaScript beyond the rows of one scan", () => {
  expect(createKernel(16)).toBeDefined();
  const next = seededRandom(7);
  const dimension = 100;
  const [fast, plain] = [createRowBlock(dimension), plainBlock(dimension)];
  const vector = () => Float32Array.from({ length: dimension }, () => gaussian(next));
  for (let row = 0; row < rowsPerScan * 2; row++) {
    const made = vector();
    fast.set(row, made);
    plain.set(row, made);
  }
  const query = vector();
  const left = [...fast.dots(query, 500, rowsPerScan)];
  const right = [...plain.dots(query, 500, rowsPerScan)];
  expect(left).toEqual(right.map((score) => expect.closeTo(score, 3)));
  const rows = Array.from({ length: rowsPerScan }, (_, at) => 500 + ((at * 7) % rowsPerScan));
  const anywhere = rows.map((row) => expect.closeTo(right[row - 500]!, 3));
  expect([...fast.dotsOf(query, rows)]).toEqual(anywhere);
  expect([...plain.dotsOf(query, rows)]).toEqual(anywhere);
});

test("rows without their zeros are the last ones written, after so many that what was replaced is cleared away", () => {
  const [dimension, rows] = [1024, 200];
  const block = sparseBlock(dimension);
  const query = new Float32Array(dimension).fill(1);
  const vector = new Float32Array(dimension);
  for (let time = 1; time <= 50; time++) {
    for (let row = 0; row < rows; row++) {
      vector.fill(0);
      for (let at = 0; at < 100; at++) vector[(row + 10 * at) % dimension] = time;
      block.set(row, vector);
    }
  }
  expect([...block.dots(query, 0, rows).subarray(0, rows)]).toEqual(Array<number>(rows).fill(5000));
  expect(block.get(7)).toEqual(vector.map((_, at) => (at >= 7 && at % 10 === 7 && at < 1007 ? 50 : 0)));
});
