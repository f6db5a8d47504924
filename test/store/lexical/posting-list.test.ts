import fc from "fast-check";
import { expect, test } from "vitest";
import { PostingCursor } from "../../../src/store/lexical/posting-cursor.js";
import { blockLength, growthOfShares, packPostings, PostingList } from "../../../src/store/lexical/posting-list.js";

type Posting = readonly [slot: number, frequency: number];

const step = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 3 }) },
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 1, max: 2 ** 15 }),
);
const frequency = fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 255 }));
const postings = fc.array(fc.tuple(step, frequency), { minLength: 1, maxLength: 3 * blockLength }).map((steps) => {
  let slot = -1;
  return steps.map(([ahead, often]): Posting => [(slot += ahead), often]);
});

const saturation = { flat: 0.3, perLength: 0.02 };
const lengthOf = (slot: number) => 5 + (slot % 97);
const share = ([slot, often]: Posting, { flat, perLength } = saturation) =>
  often / (often + flat + perLength * lengthOf(slot));

function listOf(list: readonly Posting[]): PostingList {
  const lengths = Uint32Array.from({ length: list.at(-1)![0] + 1 }, (_, slot) => lengthOf(slot));
  const slots = Int32Array.from(list, ([slot]) => slot);
  const frequencies = Int32Array.from(list, ([, often]) => often);
  return new PostingList(packPostings(slots, frequencies, list.length, lengths, saturation), list.length);
}

test("postings at any distance and of any frequency are read as they were packed", () => {
  fc.assert(
    fc.property(postings, (list) => {
      const [slots, frequencies] = [new Int32Array(list.length), new Int32Array(list.length)];
      listOf(list).unpackAll(slots, frequencies);
      expect([...slots].map((slot, at) => [slot, frequencies[at]])).toEqual(list);
    }),
    { numRuns: 60 },
  );
});

test("distances of 24 bits, the most that there are, are read as they were packed", () => {
  const list: Posting[] = [
    [3, 1],
    [2 ** 24 - 1, 200],
  ];
  const words = packPostings(
    Int32Array.from(list, ([slot]) => slot),
    Int32Array.from(list, ([, often]) => often),
    2,
    new Uint32Array(2 ** 24),
    saturation,
  );
  const [slots, frequencies] = [new Int32Array(2), new Int32Array(2)];
  new PostingList(words, 2).unpackAll(slots, frequencies);
  expect([...slots, ...frequencies]).toEqual([3, 2 ** 24 - 1, 1, 200]);
});

test("a cursor finds the frequencies that reading finds, and none where there is no posting", () => {
  fc.assert(
    fc.property(postings, fc.integer({ min: 1, max: 5000 }), (list, every) => {
      const cursor = new PostingCursor(listOf(list));
      const frequencies = new Map(list);
      for (let slot = 0; slot < list.at(-1)![0] + 2; slot += every) {
        expect(cursor.frequencyIn(slot)).toBe(frequencies.get(slot) ?? 0);
      }
    }),
    { numRuns: 60 },
  );
});

test("no posting adds more than the bound of its window, also when texts have become longer on average", () => {
  fc.assert(
    fc.property(postings, fc.integer({ min: 1, max: 4000 }), (list, window) => {
      const later = { flat: saturation.flat, perLength: saturation.perLength / 3 };
      const growth = growthOfShares(saturation, later);
      const cursor = new PostingCursor(listOf(list));
      for (let from = 0; from <= list.at(-1)![0]; from += window) {
        const bound = cursor.boundBetween(from, from + window) * (1 + 1e-9);
        for (const posting of list.filter(([slot]) => slot >= from && slot < from + window)) {
          expect(bound).toBeGreaterThanOrEqual(share(posting));
          expect(bound * growth).toBeGreaterThanOrEqual(share(posting, later));
        }
      }
    }),
    { numRuns: 40 },
  );
});
