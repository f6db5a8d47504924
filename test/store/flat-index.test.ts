import fc from "fast-check";
import { expect, test } from "vitest";
import { createKernel } from "../../src/store/dense/dot-products.js";
import { FlatIndex } from "../../src/store/dense/flat-index.js";
import { createRowBlock, rowsPerScan } from "../../src/store/dense/row-block.js";
import { gaussian } from "./made-documents.js";
import { seededRandom } from "../support/seeded-random.js";

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
        fc.integer(),
        async (dimension, history, count, seed) => {
          const next = seededRandom(seed);
          // Small whole numbers: their products and sums are exact, in whatever order they are added.
          const vector = () => Float32Array.from({ length: dimension }, () => Math.floor(next() * 17) - 8);
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
          const query = vector();
          const scan = [...model]
            .map(([label, stored]) => ({ label, score: stored.reduce((sum, one, at) => sum + one * query[at]!, 0) }))
            .toSorted((a, b) => b.score - a.score || a.label - b.label)
            .slice(0, count);
          const { labels, scores } = await index.search(query, count);
          expect([...labels]).toEqual(scan.map(({ label }) => label));
          expect([...scores]).toEqual(scan.map(({ score }) => score + 0));
        },
      ),
      { numRuns: 60 },
    );
  });
}

test("the kernel runs here, and agrees with plain JavaScript over more rows than one scan", () => {
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
});
