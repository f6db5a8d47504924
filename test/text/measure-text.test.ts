import { expect, test } from "vitest";
import { measureText } from "../../src/text/measure-text.js";
import { TokenIndex } from "../../src/text/token-index.js";
import { defaultTokens } from "../../src/text/tokens.js";

function measured(text: string) {
  const steps = measureText({ uri: "memo:1", text }, defaultTokens);
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return { index: step.value.index, pauses };
    pauses++;
  }
}

test("a long text is measured in parts, with the pieces that it has as a whole", () => {
  const text = "A line of prose, with 12345 numbers.\r\n\n  indented  don't\n漢字 <|endoftext|>\n".repeat(8_000);
  const { index, pauses } = measured(text);
  expect(pauses).toBeGreaterThan(2);
  const whole = TokenIndex.of(text, defaultTokens);
  expect(index.between(0, text.length)).toBe(whole.between(0, text.length));
  for (let at = 0; at < text.length; at += 997) expect(index.reach(at, 50)).toBe(whole.reach(at, 50));
});

test("a long line is measured in parts, too, to its end", () => {
  const text = "𠀀".repeat(300_000);
  const { index, pauses } = measured(text);
  expect(pauses).toBeGreaterThan(2);
  expect(index.reach(0, Infinity)).toBe(text.length);
});
