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

const text = "Keys expire after ninety days.";
const uints = (...values: number[]) => Uint32Array.from(values);

test.each<[string, Partial<Record<keyof TokenCounter, unknown>>]>([
  ["count() returned -1, which is no number", { count: (word: string) => (word === "word" ? 1 : -1) }],
  ["count() returned NaN, which is no number", { count: () => NaN }],
  ["count() returned Infinity, which is no number", { count: () => Infinity }],
  ['count() returned "7", which is no number', { count: () => "7" }],
  ["count() returned a promise, which is no number", { count: async () => 3 }],
  ["measure() returned undefined, not { ends, tokens }", { measure: () => undefined }],
  ["measure() returned ends or tokens that are no Uint32Array", { measure: () => ({ ends: [30], tokens: [5] }) }],
  ["measure() returned 1 ends, and tokens of 2", { measure: () => ({ ends: uints(30), tokens: uints(1, 2) }) }],
  ["measure() returned pieces that end at 0, of", { measure: () => ({ ends: uints(), tokens: uints() }) }],
  ["measure() returned pieces that end at 80, of", { measure: () => ({ ends: uints(80), tokens: uints(1) }) }],
  [
    "measure() returned ends that fall from 9 to 3",
    { measure: () => ({ ends: uints(9, 3, 30), tokens: uints(1, 2, 3) }) },
  ],
  [
    "measure() returned tokens that fall from 4 to 2",
    { measure: () => ({ ends: uints(9, 12, 30), tokens: uints(4, 2, 5) }) },
  ],
])("a token counter is told that its %s", (problem, wrong) => {
  const counter = { name: "own", count: () => 1, ...wrong } as TokenCounter;
  expect(() => TokenIndex.of(text, counter)).toThrow(`The token counter own is wrong: ${problem}`);
});
