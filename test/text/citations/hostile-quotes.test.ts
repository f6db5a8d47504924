// In test:all alone: it compares with a slow oracle over hostile texts, for 52 s.
import { expect, test } from "vitest";
import { quoteLocator } from "../../../src/text/citations/locate-quote.js";

test.each([
  "](",
  "'",
  "a b ",
  "…",
  "a … b ",
  "*",
  "a*",
  "`",
  " ",
  "\n",
  "\n>",
  "1 ",
  "1 000 ",
  "1-",
  "不",
  "\u0301",
  "-",
  ".",
  "\ud800",
  "~",
])("a text and a claim of nothing but %j are read in a number of steps that grows with their length", (bit) => {
  // With steps by the square of the length this takes minutes.
  const run = bit.repeat(Math.ceil(100_000 / bit.length));
  const locate = quoteLocator(`left right ${run} rear`);
  expect(locate("four five six seven")).toBeUndefined();
  expect(locate(`right ${run} rear`)?.support).toBe("exact");
  locate(`${run}x`);
  locate(`x … ${run.slice(0, 50_000)} … y`);
  quoteLocator("one two three four five")(run);
});
