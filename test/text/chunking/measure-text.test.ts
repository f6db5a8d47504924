import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { measureText } from "../../../src/text/chunking/measure-text.js";
import { TokenIndex } from "../../../src/text/chunking/token-index.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";

function measured(text: string) {
  const steps = measureText({ uri: "memo:1", text }, defaultTokens);
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return { index: step.value.index, pauses };
    pauses++;
  }
}

test("a long text is measured in parts, with the same pieces as the whole", () => {
  const text = "A line of prose, with 12345 numbers.\r\n\n  indented  don't\n漢字 <|endoftext|>\n".repeat(8_000);
  const { index, pauses } = measured(text);
  expect(pauses).toBeGreaterThan(2);
  const whole = TokenIndex.of(text, defaultTokens);
  expect(index.between(0, text.length)).toBe(whole.between(0, text.length));
  for (let at = 0; at < text.length; at += 997) expect(index.reach(at, 50)).toBe(whole.reach(at, 50));
});

test("a long line is measured in parts too, to its end", () => {
  const text = "𠀀".repeat(300_000);
  const { index, pauses } = measured(text);
  expect(pauses).toBeGreaterThan(2);
  expect(index.reach(0, Infinity)).toBe(text.length);
});

test.each([
  ["at the size of a part, the part ends at its start", 0, 131_072],
  ["an eighth of a part further, less one character, the part ends at its start", 16_383, 147_455],
  ["an eighth of a part further, the part ends where it is full", 16_384, 131_072],
])("when the next line that is not indented begins %s", (_where, beyond, firstPart) => {
  const lengths: number[] = [];
  const counter: TokenCounter = {
    name: "lengths",
    count: (text) => text.length,
    measure: (text) => {
      lengths.push(text.length);
      return { ends: Uint32Array.of(text.length), tokens: Uint32Array.of(text.length) };
    },
  };
  // One line up to the size of a part, less one character; then a line of its own that is indented.
  const head = `${"x".repeat(131_070)}\n`;
  const indented = beyond === 0 ? "\n" : ` ${"y".repeat(beyond - 1)}\n`;
  const text = `${head}${indented}z${"z".repeat(40_000)}`;
  const steps = measureText({ uri: "memo:1", text }, counter);
  while (!steps.next().done);
  expect(lengths[0]).toBe(firstPart);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(text.length);
});
