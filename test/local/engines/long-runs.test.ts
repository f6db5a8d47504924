import { expect, test } from "vitest";
import { answerText, quotable } from "../../../src/local/engines/chat/answer-text.js";
import { plainText, withoutMachineLines } from "../../../src/local/engines/chat/plain-text.js";
import { identifiersIn } from "../../../src/local/engines/chat/question/wanted.js";

/** Bits that documents repeat, or somebody could, so often that steps by the square of the length would stop the service. */
const bits = [
  " ",
  "\n",
  "\t",
  "\n ",
  "*",
  "_",
  "|",
  "`",
  "[",
  "](",
  "![",
  "[a](",
  "**a ",
  "__a ",
  "{#",
  "{{<",
  "<a ",
  "a",
  "A",
  "$1",
  "0",
  "不",
];

test.each(bits)("a passage with a long run of %j is read in steps that grow with its length", (bit) => {
  // With steps by the square of the length, a run of this length takes minutes.
  const run = bit.repeat(Math.ceil(100_000 / bit.length));
  const text = `Keys expire after${run} 90 days.`;
  expect(plainText(text)).toContain("days");
  expect(withoutMachineLines(text)).toContain("days");
  expect(quotable(text).length).toBeLessThanOrEqual(800);
  for (const kind of ["prose", "code"] as const) {
    const statement = {
      kind,
      source: 1,
      text,
      passage: text,
      context: "",
      heading: "",
      opens: false,
      joint: "",
    } as const;
    expect(answerText([statement], "quote")).toContain("90 days");
  }
  expect(identifiersIn(`${run} maxTokens`)).toContain("maxTokens");
});

test("what is read by bounded patterns is read as before", () => {
  expect(plainText("# Keys {#keys}\n\n**Keys** __expire__ {#a} after  90 days.")).toBe(
    "Keys Keys expire after 90 days.",
  );
  expect(quotable("> - Keys last 90 days. | \\")).toBe("Keys last 90 days.");
  expect(quotable("## Keys last 90 days.")).toBe("Keys last 90 days.");
  expect(quotable("#P is a class of keys.")).toBe("#P is a class of keys.");
  expect(quotable("https://example.org/a/long/address/of/a/page\nKeys last.")).toBe("Keys last.");
  expect(identifiersIn("Is _maxTokens or max_tokens or `-x` set in server.listenPort?")).toEqual([
    "-x",
    "_maxTokens",
    "max_tokens",
    "server.listenPort",
  ]);
});
