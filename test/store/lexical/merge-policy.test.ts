import { expect, test } from "vitest";
import { segmentsToMerge } from "../../../src/store/lexical/merge-policy.js";

/** Adds segments of these sizes one by one, and merges as the policy says; counts the texts that merging wrote. */
function simulate(added: Iterable<number>): { sizes: number[]; written: number; most: number } {
  let sizes: number[] = [];
  let written = 0;
  let most = 0;
  for (const texts of added) {
    sizes.push(texts);
    for (let range = plan(sizes); range; range = plan(sizes)) {
      const merged = sizes.slice(range.from, range.to).reduce((sum, size) => sum + size, 0);
      written += merged;
      sizes = sizes.toSpliced(range.from, range.to - range.from, merged);
    }
    most = Math.max(most, sizes.length);
  }
  return { sizes, written, most };
}

const plan = (sizes: readonly number[]) => segmentsToMerge(sizes.map((texts) => ({ texts, deadTexts: 0 })));

test("each text is written again once a level, and there are at most seven segments of a level", () => {
  for (const count of [2000, 4000, 8000]) {
    const added = Array.from({ length: count }, () => 100);
    const { written, most } = simulate(added);
    const levels = 1 + Math.log((100 * count) / 64) / Math.log(8);
    expect(written).toBeLessThanOrEqual(100 * count * levels);
    expect(most).toBeLessThanOrEqual(8 + 7 * levels);
  }
});

test("small segments before a larger one are merged with it, so that they do not add up", () => {
  expect(plan([9000, 100, 100, 9000])).toEqual({ from: 1, to: 4 });
  expect(plan([70_000, 9000, 100])).toBeUndefined();
  expect(plan([9000, 100, 100, 100, 100, 100, 100, 100])).toBeUndefined();
  expect(plan([9000, 100, 100, 100, 100, 100, 100, 100, 100])).toEqual({ from: 1, to: 9 });
});

test("a segment of which a quarter was removed is written alone, and one without texts goes", () => {
  const segments = [
    { texts: 100_000, deadTexts: 25_001 },
    { texts: 10, deadTexts: 10 },
  ];
  expect(segmentsToMerge(segments)).toEqual({ from: 0, to: 1 });
  expect(segmentsToMerge(segments.slice(1))).toEqual({ from: 0, to: 1 });
  expect(segmentsToMerge([{ texts: 100_000, deadTexts: 25_000 }])).toBeUndefined();
  expect(segmentsToMerge([{ texts: 400, deadTexts: 200 }])).toBeUndefined();
});

test("no segment grows beyond the texts that its postings can count", () => {
  expect(plan(Array.from({ length: 8 }, () => 2 ** 22))).toBeUndefined();
});

test("segments merge at the eighth of a level, at more than a quarter of removed texts, and up to 2^24 texts", () => {
  const of = (texts: number, deadTexts = 0) => ({ texts, deadTexts });
  const many = (count: number, texts: number) => Array.from({ length: count }, () => of(texts));
  expect(segmentsToMerge(many(7, 64))).toBeUndefined();
  expect(segmentsToMerge(many(8, 64))).toEqual({ from: 0, to: 8 });
  // 511 and 512 texts stand on two levels: the second is not smaller, and joins the first.
  expect(segmentsToMerge([of(512), of(511)])).toBeUndefined();
  expect(segmentsToMerge([of(511), of(512)])).toEqual({ from: 0, to: 2 });
  expect(segmentsToMerge([of(1024, 256)])).toBeUndefined();
  expect(segmentsToMerge([of(1024, 257)])).toEqual({ from: 0, to: 1 });
  expect(segmentsToMerge([of(900, 255)])).toBeUndefined();
  expect(segmentsToMerge([of(900, 256)])).toEqual({ from: 0, to: 1 });
  expect(segmentsToMerge([of(5, 5)])).toEqual({ from: 0, to: 1 });
  expect(segmentsToMerge([of(2 ** 20), of(2 ** 24 - 2 ** 20)])).toEqual({ from: 0, to: 2 });
  expect(segmentsToMerge([of(2 ** 20), of(2 ** 24 - 2 ** 20 + 1)])).toBeUndefined();
});
