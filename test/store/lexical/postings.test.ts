import fc from "fast-check";
import { expect, test } from "vitest";
import { PostingReader, putPosting } from "../../../src/store/lexical/posting.js";
import { pageLength, Postings } from "../../../src/store/lexical/postings.js";
import { PostingSeeker, TermOutlines } from "../../../src/store/lexical/term-outlines.js";
import { seededRandom } from "../../support/seeded-random.js";

type Posting = readonly [slot: number, frequency: number];

/** Distances around the limits of one, two and four numbers. */
const step = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 4090, max: 4100 }),
  fc.integer({ min: 1, max: 2 ** 19 }),
  fc.integer({ min: 2 ** 20 - 3, max: 2 ** 20 + 3 }),
  fc.integer({ min: 1, max: 2 ** 25 }),
);
const frequency = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 250, max: 260 }));
const postings = fc.array(fc.tuple(step, frequency), { maxLength: 60 }).map((steps) => {
  let slot = -1;
  return steps.map(([ahead, often]): Posting => [(slot += ahead), often]);
});

function written(list: readonly Posting[]): Uint16Array {
  const numbers = new Uint16Array(4 * list.length);
  let end = 0;
  for (const [at, [slot, often]] of list.entries()) {
    end = putPosting(numbers, end, slot - (list[at - 1]?.[0] ?? -1), often);
  }
  return numbers.subarray(0, end);
}

function read(list: Uint16Array): Posting[] {
  const reader = new PostingReader(list);
  const found: Posting[] = [];
  while (reader.next()) found.push([reader.slot, reader.frequency]);
  return found;
}

const capped = (list: readonly Posting[]) => list.map(([slot, often]) => [slot, Math.min(often, 255)]);

test("postings at any distance are read as they were written, with frequencies capped at 255", () => {
  fc.assert(
    fc.property(postings, (list) => {
      expect(read(written(list))).toEqual(capped(list));
    }),
  );
});

test("seeking finds the frequencies that reading finds, and none where there is no posting", () => {
  const next = seededRandom(3);
  for (const share of [0.9, 0.2, 0.01, 0.0002]) {
    const list: Posting[] = [];
    for (let slot = 0; slot < 60_000; slot++) if (next() < share) list.push([slot, 1 + Math.floor(next() * 20)]);
    const texts = { lengths: new Uint32Array(60_000).fill(30), dead: new Uint8Array(60_000), removals: 0 };
    const numbers = written(list);
    const outline = new TermOutlines().of(0, numbers, texts, { flat: 0.3, perLength: 0.01 });
    const frequencies = new Map(list);
    for (const every of [1, 7, 500, 20_000]) {
      const seeker = new PostingSeeker(numbers, outline);
      for (let slot = 0; slot < 60_000; slot += 1 + Math.floor(next() * every)) {
        expect(seeker.frequencyIn(slot)).toBe(frequencies.get(slot) ?? 0);
      }
    }
  }
});

test("lists hold what was appended, in order, after lists of a saved index and beyond the length of a page", () => {
  const next = seededRandom(5);
  const model = Array.from({ length: 300 }, () => {
    let slot = -1;
    return Array.from({ length: Math.floor(next() * 40) }, (): Posting => [(slot += 1 + Math.floor(next() * 9000)), 3]);
  });
  const takenOver = model.map(written);
  const lists = new Postings({
    counts: Uint32Array.from(model, (list) => list.length),
    lengths: Uint32Array.from(takenOver, (list) => list.length),
    lastSlots: Uint32Array.from(model, (list) => list.at(-1)?.[0] ?? 0),
    numbers: Uint16Array.from(takenOver.flatMap((list) => [...list])),
  });
  const append = (term: number) => {
    const slot = (model[term]!.at(-1)?.[0] ?? -1) + 1 + Math.floor(next() ** 20 * 70_000);
    const often = 1 + Math.floor(next() * 16);
    lists.append(term, slot, often);
    model[term]!.push([slot, often]);
  };
  // Frequencies rise steeply with the term's number: the last list outgrows a page.
  for (let value = 0; value < pageLength * 2; value++) {
    const term = Math.floor(next() ** 0.05 * 600);
    while (lists.terms <= term) {
      lists.addTerm();
      model.push([]);
    }
    append(term);
  }
  lists.addTerm();
  for (let at = 0; at < pageLength + 1; at++) append(0);
  for (const [term, list] of model.entries()) {
    expect(read(lists.list(term))).toEqual(list);
    expect(lists.count(term)).toBe(list.length);
    if (list.length > 0) expect(lists.lastSlot(term)).toBe(list.at(-1)![0]);
  }
  expect(lists.list(lists.terms - 1)).toHaveLength(0);
});
