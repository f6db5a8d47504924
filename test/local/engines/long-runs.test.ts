// In test:all alone: it reads passages of growing length for every kind of run, for 18 s.
import { expect, test } from "vitest";
import { answerText } from "../../../src/local/engines/chat/answer-text.js";
import { choosePassages } from "../../../src/local/engines/chat/passages/choose-passages.js";
import { plainText } from "../../../src/text/blocks/plain-text.js";

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
  const question = "When do keys expire?";
  for (const source of [text, `\`\`\`\n${text}\n\`\`\``, `- ${text}`, `| a |\n| - |\n| ${text} |`, `key\n: ${text}`]) {
    const chosen = choosePassages(question, [{ number: 1, text: source }]);
    expect(answerText(chosen, question, "quote").length).toBeLessThan(16_000);
  }
  expect(choosePassages(`${run} ${question}`, [{ number: 1, text: "Keys expire after 90 days." }]).length).toBeLessThan(
    2,
  );
});

test("what is read by bounded patterns is read as before", () => {
  expect(plainText("# Keys {#keys}\n\n**Keys** __expire__ {#a} after  90 days.")).toBe(
    "Keys Keys expire after 90 days.",
  );
});
