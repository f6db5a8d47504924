import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkPlaces } from "../../../src/store/writer/chunk-places.js";
import { placeInDocument } from "../../../src/text/blocks/places.js";

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
