import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutCost, isBlank, lineEnd } from "../../../src/text/blocks/lines.js";

const lineBreak = fc.constantFrom("\n", "\r\n", "\r");

test("every line ends behind its own line break, whichever kind it is, and the last one with the text", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("\n", "\r\n", "\r", "a", " ", "", "漢"), { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      const lines: string[] = [];
      for (let at = 0; at < text.length;) {
        const end = lineEnd(text, at);
        lines.push(text.slice(at, end));
        at = end;
      }
      expect(lines).toEqual(text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []);
    }),
  );
});

test("blank is what trimming leaves nothing of, for every character there is", () => {
  const wrong: string[] = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const character = String.fromCharCode(unit);
    if (isBlank(character, 0, 1) !== (character.trim() === "")) wrong.push(unit.toString(16));
  }
  expect(wrong).toEqual([]);
});

test("only the span counts when it is asked whether a text is blank", () => {
  expect(isBlank("a  b", 1, 3)).toBe(true);
  expect(isBlank("a  b", 0, 3)).toBe(false);
  expect(isBlank("a  b", 1, 4)).toBe(false);
  expect(isBlank("ab", 1, 1)).toBe(true);
});

test("a cut before a line costs its indentation, 4 without a blank line before it, and 8 if the line closes something", () => {
  const line = fc.record({
    indent: fc.stringMatching(/^[ \t]{0,5}$/),
    code: fc.constantFrom("", "x = 1", "}", ")", "]", "end", "else:", "ending", "éend"),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), lineBreak, (lines, ending) => {
      const text = lines.map(({ indent, code }) => indent + code).join(ending);
      let start = 0;
      for (const [index, { indent, code }] of lines.entries()) {
        const columns = Array.from(indent).reduce((sum, character) => sum + (character === "\t" ? 4 : 1), 0);
        const free = index === 0 || lines[index - 1]!.code === "";
        const closes = ["}", ")", "]", "end", "else:"].includes(code);
        expect(cutCost(text, start)).toBe(columns + (free ? 0 : 4) + (closes ? 8 : 0));
        start += indent.length + code.length + ending.length;
      }
    }),
    { numRuns: 500 },
  );
});
