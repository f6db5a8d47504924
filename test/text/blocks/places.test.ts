import fc from "fast-check";
import { expect, test } from "vitest";
import type { Hit } from "../../../src/core/types.js";
import {
  chunkPlaces,
  clockTime,
  pictureWithin,
  placeInDocument,
  storedPlace,
} from "../../../src/text/blocks/places.js";

const offsets = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 12 })), { maxLength: 12 });

test("one pass gives each chunk the place that counting from the start gives", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "\n", "\r", "\r\n", "文"), { maxLength: 40 }),
      fc.option(
        fc.array(
          fc.record({ start: fc.nat({ max: 40 }), page: fc.nat(), line: fc.nat() }, { requiredKeys: ["start"] }),
        ),
      ),
      offsets,
      (pieces, given, spans) => {
        const anchors = given?.toSorted((a, b) => a.start - b.start);
        const document = { uri: "made", text: pieces.join(""), ...(anchors && { anchors }) };
        const chunks = spans.map(([start, length]) => ({ start, end: start + length }));
        const expected = chunks.map(({ start, end }) => ({
          ...placeInDocument(document, start),
          ...(anchors && { anchors: anchors.filter((anchor) => anchor.start >= start && anchor.start < end) }),
        }));
        expect(chunkPlaces(document, chunks)).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});

test("a chunk that starts after its line's time still has that time, also from the columns that a store keeps", () => {
  const anchors = [
    { start: 0, line: 3, seconds: 61.5 },
    { start: 10, line: 7, seconds: 3723 },
  ];
  const document = { uri: "talk.vtt", text: "words said and more said", anchors };
  const [first, second, third] = chunkPlaces(document, [
    { start: 0, end: 6 },
    { start: 6, end: 12 },
    { start: 15, end: 24 },
  ]);
  expect(first).toEqual({ line: 3, seconds: 61.5, anchors: anchors.slice(0, 1) });
  expect(second).toEqual({ line: 3, seconds: 61.5, anchors: [{ start: 6, seconds: 61.5 }, anchors[1]] });
  expect(third).toEqual({ line: 7, seconds: 3723, anchors: [{ start: 15, seconds: 3723 }] });
  const columns = { start: 6, line: 3, page: null, anchors: JSON.stringify(second!.anchors) };
  expect(storedPlace(columns)).toEqual(second);
  expect([0, 61.9, 754, 3723, 36_000].map(clockTime)).toEqual(["0:00", "1:01", "12:34", "1:02:03", "10:00:00"]);
});

test("the places of all chunks cost one pass over the text", () => {
  let read = 0;
  class CountedText extends String {
    override slice(from: number, to: number): string {
      read += to - from;
      return super.slice(from, to);
    }
  }
  const text = new CountedText("line\n".repeat(1000)) as unknown as string;
  const chunks = Array.from({ length: 500 }, (_, index) => ({ start: index * 10, end: index * 10 + 10 }));
  expect(chunkPlaces({ uri: "made", text }, chunks).at(-1)).toEqual({ line: 999 });
  expect(read).toBeLessThan(2 * 5000);
});

test("words of which a part describes a picture are the picture's, and those before and behind are the document's", () => {
  const picture = { sha256: "0".repeat(64), mediaType: "image/png", describedBy: "see" };
  const text = "Own words. A zebra. More own.";
  const anchors = [{ start: 0 }, { start: 11, picture }, { start: 20, picture: false as const }];
  const chunk = { id: "c", documentId: "d", start: 0, end: text.length, text };
  const hit = { chunk, uri: "a", score: 1, anchors, placements: {} } as unknown as Hit;
  expect(pictureWithin(hit, { start: 0, end: 10 })).toBeUndefined();
  expect(pictureWithin(hit, { start: 4, end: 15 })).toEqual(picture);
  expect(pictureWithin(hit, { start: 13, end: 16 })).toEqual(picture);
  expect(pictureWithin(hit, { start: 21, end: 29 })).toBeUndefined();
});
