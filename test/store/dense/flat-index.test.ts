import fc from "fast-check";
import { expect, test } from "vitest";
import { createKernel } from "../../../src/store/dense/flat/kernel.js";
import { FlatIndex } from "../../../src/store/dense/flat/flat-index.js";
import { createRowBlock, rowsPerScan } from "../../../src/store/dense/flat/row-block.js";
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

for (const plain of [false, true]) {
  test(`flat search finds what a full scan finds after any additions and removals (${plain ? "plain" : "WebAssembly"})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 70 }),
        steps,
        fc.integer({ min: 1, max: 50 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
        fc.integer(),
        async (dimension, history, count, allowed, seed) => {
          const next = seededRandom(seed);
          // Of any length that 32-bit floats can express, far beyond what their squares can.
          const vector = () => {
            const size = 10 ** (60 * next() - 30);
            return Float32Array.from({ length: dimension }, () => size * gaussian(next));
          };
          const index = new FlatIndex(dimension, plain);
          const model = new Map<number, Float32Array>();
          for (const { kind, label } of history) {
            if (kind === "remove") {
              index.remove(label);
              model.delete(label);
              continue;
            }
            const made = vector();
            index.add(label, made);
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
  const [fast, plain] = [createRowBlock(dimension), createRowBlock(dimension, true)];
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
