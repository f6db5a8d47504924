import { expect, test } from "vitest";
import { boxesOf, encodeWordBoxes } from "../../src/text/blocks/word-boxes.js";
import { chunkPlaces } from "../../src/text/blocks/places.js";
import { recognizedPage } from "../../src/load/formats/recognized-pages.js";

const text = "First page.\n\nThe vault opens\nat nine in\n\nThird page.";
const second = text.indexOf("The vault");
/** Two lines of three words, each a tenth of the page wide. */
const boxes = [0, 1, 2, 3, 4, 5].map((index) => {
  const left = 0.1 + 0.2 * (index % 3);
  const top = index < 3 ? 0.1 : 0.3;
  return { left, top, right: left + 0.1, bottom: top + 0.05 };
});
const document = {
  uri: "scan.pdf",
  text,
  anchors: [
    { start: 0, page: 1 },
    { start: second, page: 2, wordBoxes: encodeWordBoxes(boxes) },
    { start: text.indexOf("Third"), page: 3 },
  ],
};
const around = (words: string) => {
  const start = text.indexOf(words);
  return boxesOf(document, { start, end: start + words.length }).map(({ page, ...edges }) => [
    page,
    ...[edges.left, edges.top, edges.right, edges.bottom].map((edge) => Math.round(edge * 1000) / 1000),
  ]);
};

test("words of a scanned page have a box for each of their lines, to a thousandth of the page", () => {
  expect(around("vault opens\nat")).toEqual([
    [2, expect.closeTo(0.3, 2), expect.closeTo(0.1, 2), expect.closeTo(0.6, 2), expect.closeTo(0.15, 2)],
    [2, expect.closeTo(0.1, 2), expect.closeTo(0.3, 2), expect.closeTo(0.2, 2), expect.closeTo(0.35, 2)],
  ]);
  expect(around("nine")).toHaveLength(1);
  expect(around("First page.")).toEqual([]);
  expect(around("Third")).toEqual([]);
  expect(boxesOf(document, { start: second, end: second })).toEqual([]);
});

test("a word without a place has no box, and places that cannot be read are none", () => {
  const some = encodeWordBoxes([boxes[0], undefined, boxes[2]]);
  expect(some).toHaveLength(24);
  const found = (wordBoxes: string, words: string) =>
    boxesOf({ text: "a b c", anchors: [{ start: 0, page: 1, wordBoxes }] }, { start: "a b c".indexOf(words), end: 5 });
  expect(found(some, "b c")).toHaveLength(1);
  expect(found("zz", "a")).toEqual([]);
  expect(found("ABCDEFGH!", "a")).toEqual([]);
  expect(encodeWordBoxes([{ left: -1, top: 0, right: 2, bottom: 1 }])).toBe("0000zzzz");
});

test("chunks do not carry the boxes of their page", () => {
  const [, place] = chunkPlaces(document, [
    { start: 0, end: second },
    { start: second, end: text.length },
  ]);
  expect(place).toEqual({ page: 2, anchors: [{ start: second, page: 2 }, document.anchors[2]] });
});

test("the words of pictures are placed on their page, also where the text lacks some of them or has others", () => {
  const place = { left: 0.5, top: 0, right: 1, bottom: 0.5, pixels: { width: 100, height: 200 } };
  const word = (named: string, left: number) => ({ text: named, left, top: 20, right: left + 10, bottom: 40 });
  const { text: read, wordBoxes } = recognizedPage([
    { text: "unplaced words" },
    { text: " Keys of Ada\n", words: [word("~", 0), word("Keys", 10), word("Ada", 60)], place },
  ]);
  expect(read).toBe("unplaced words\n Keys of Ada");
  const found = boxesOf({ text: read, anchors: [{ start: 0, page: 7, wordBoxes: wordBoxes! }] }, { start: 0, end: 99 });
  expect(found).toEqual([
    {
      page: 7,
      left: expect.closeTo(0.55, 2),
      top: expect.closeTo(0.05, 2),
      right: expect.closeTo(0.85, 2),
      bottom: expect.closeTo(0.1, 2),
    },
  ]);
  expect(recognizedPage([{ text: "Keys" }])).toEqual({ text: "Keys" });
});
