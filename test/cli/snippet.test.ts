import { expect, test } from "vitest";
import { snippet } from "../../src/cli/output/snippet.js";

const passage = `## Keys

Keys are made by the owner. They are stored in the vault of the house.

- Rotate a key with **\`vault rotate\`** once a year.
- Never share one.
`;

test("begins with the sentence that holds most of the query's words, in any form, and says that text stands before it", () => {
  expect(snippet(passage, "How are keys rotated in a year?", 60)).toMatch(
    /^… Rotate a key with vault rotate once a year\./,
  );
});

test("without a word of the query it is the beginning, without front matter, headings and signs of Markdown", () => {
  expect(snippet(`---\ntitle: Keys\n---\nThe keys.`, "elephants", 60)).toBe("The keys.");
  expect(snippet(passage, "elephants", 60)).toMatch(/^Keys are made by the owner\./);
});

test("words of the query count as far as they are shown", () => {
  expect(snippet(`Cats sleep. ${"Dogs bark. ".repeat(20)}Cats and mice.`, "cats mice", 40)).toMatch(/^… Cats and mice/);
  expect(snippet(`Cats sleep. Mice run. ${"Dogs bark. ".repeat(20)}`, "cats mice", 40)).toMatch(/^Cats sleep\. Mice/);
});

test("in Chinese, the words of a question are its pairs of characters", () => {
  expect(snippet("钥匙由主人制作。它们存放在保险库里。每年轮换一次钥匙。", "如何轮换钥匙?", 12)).toBe(
    "… 每年轮换一次钥匙。",
  );
});

test("of a passage that is front matter alone, it is that", () => {
  expect(snippet("---\ntitle: Keys\n---\n", "keys", 60)).toContain("title: Keys");
});
