import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { placeInDocument } from "../../../src/text/blocks/places.js";
import { documentPart } from "../../../src/server/mcp/document-part.js";

const document = (text: string, anchors?: Document["anchors"]): Document => ({
  uri: "a",
  text,
  ...(anchors && { anchors }),
});

describe("a part of a document", () => {
  test("parts read one after the other are the text, and none cuts a character in two", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "中", "😀", "\n"), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, maxCharacters) => {
        const parts: string[] = [];
        for (let start: number | undefined = 0; start !== undefined;) {
          const part = documentPart(document(whole), { start }, maxCharacters);
          expect(part.text.length).toBeLessThanOrEqual(maxCharacters);
          expect(part.text).not.toMatch(/\p{Surrogate}/u);
          parts.push(part.text);
          start = part.next;
        }
        expect(parts.join("")).toBe(whole);
      }),
    );
  });

  test("begins at the line that is asked for, as lines are counted for citations", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "\n", "\r", "\r\n"), { maxLength: 30 })
      .map((each) => each.join(""));
    fc.assert(
      fc.property(text, (whole) => {
        const last = placeInDocument(document(whole), whole.length).line!;
        for (let line = 1; line <= last; line++) {
          const { start } = documentPart(document(whole), { line }, 1000);
          expect(placeInDocument(document(whole), start).line).toBe(line);
          if (start > 0) expect(placeInDocument(document(whole), start - 1).line).toBeLessThan(line);
        }
        expect(() => documentPart(document(whole), { line: last + 1 }, 1000)).toThrow(`the last is ${last}`);
      }),
    );
  });

  test("follows the lines and pages of the original file where the document knows them", () => {
    const known = document("one two three four", [
      { start: 0, line: 10, page: 3 },
      { start: 4, line: 12 },
      { start: 8, line: 15, page: 4 },
      { start: 14, page: 4 },
    ]);
    const read = (wanted: Parameters<typeof documentPart>[1]) => documentPart(known, wanted, 1000).text;
    expect(read({ line: 10 })).toBe("one two three four");
    expect(read({ line: 13 })).toBe("two three four");
    expect(read({ page: 3 })).toBe("one two ");
    expect(read({ page: 4 })).toBe("three four");
    expect(read({ page: 3, around: 3 })).toBe("one two thr");
    expect(() => read({ page: 5 })).toThrow("its pages are 3 to 4");
    expect(() => read({ line: 9 })).toThrow("not known");
  });
});
