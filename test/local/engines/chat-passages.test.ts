import { plainForm } from "../../../src/local/engines/chat/question/word-forms.js";
import { expect, test } from "vitest";
import { answerText } from "../../../src/local/engines/chat/answer-text.js";
import { chooseStatements } from "../../../src/local/engines/chat/statements/statement-choice.js";
import { statements } from "../../../src/local/engines/chat/statements/statements.js";
import { terms } from "../../../src/text/words/terms.js";

function quotes(question: string, ...texts: readonly string[]): readonly string[] {
  const all = texts.flatMap((text, index) => statements({ number: index + 1, title: "", text }));
  return chooseStatements(question, all).map(({ text, passage }) => passage ?? text);
}

const mill =
  "The old mill stands at the river Esk. It was written about by many travellers. " +
  "Anna Brandt wrote the first book on the mill in 1871. Visitors like the garden of the mill. The roof is of slate.";

test.each([
  ["Who writes the first book on the mill?", "Anna Brandt wrote"],
  ["When did Anna Brandt write the first book on the mill?", "in 1871"],
])("%s is quoted across forms of a verb", (question, expected) => {
  expect(quotes(question, mill)[0]).toContain(expected);
});

test("inflected forms of a word compare as equal", () => {
  const form = (word: string) => plainForm(terms(word)[0] ?? "");
  expect(form("wrote")).toBe(form("writes"));
  expect(form("children")).toBe(form("child"));
  expect(form("founded")).not.toBe(form("find"));
});

test("a question asking when is answered by the sentence that names a time", () => {
  const text =
    "The Hollberg bridge was opened by the mayor of Hollberg. Boats pass under it. A ferry had gone there before.\n\n" +
    "The Hollberg bridge was opened in May 1902 for carts. Trains never crossed it.";
  expect(quotes("When was the Hollberg bridge opened?", text)[0]).toContain("May 1902");
});

test("two nearby sentences are quoted verbatim together with the text between them", () => {
  const texts = [
    "青石桥位于河的东岸。它由工匠李春在隋朝主持设计建造，长五十米。桥边有一座小庙。",
    "The Esk bridge is in the east. It was made by Anna Brandt of Hollberg.\nIt is 50 metres long.",
  ];
  for (const question of ["青石桥是由谁设计建造的？", "Who made the Esk bridge in the east?"]) {
    const [first = ""] = quotes(question, ...texts);
    expect(texts.map((text) => text.replaceAll("\n", " ")).some((text) => text.includes(first) && first !== "")).toBe(
      true,
    );
  }
});

test("a passage that is not sure to answer is quoted with the sentence behind it, which may", () => {
  const text =
    "In 1885, Brandt said that he could rebuild the slow wheel of the mill at the Esk, and make it run with less water. " +
    "The miller answered that there was money in it for him if he did. It was fifty thousand crowns, to be paid in spring. " +
    "The garden is large.";
  const [first] = quotes("How much did Brandt say the miller of Esk offered him to rebuild the wheel?", text);
  expect(first).toBe(text.replace(" The garden is large.", ""));
});

test("a question about a name in no source gets no answer", () => {
  const text = "The tower of Hollberg is 80 metres high. It was built by Anna Brandt. Its clock strikes every hour.";
  expect(quotes("How high is the tower of Hollberg?", text)).not.toEqual([]);
  expect(quotes("How many visitors came to the Zephyr Palace in Quenby during 1933?", text)).toEqual([]);
});

test("a question on the difference of two things quotes the definition of each", () => {
  const text =
    "Head sampling is a technique that decides at the start. It is cheap. " +
    "Tail sampling is a technique that decides when all is known. The difference between teams is small.";
  expect(quotes("How does head sampling differ from tail sampling?", text)).toEqual([
    "Head sampling is a technique that decides at the start.",
    "Tail sampling is a technique that decides when all is known.",
  ]);
});

test.each([
  ["across the ends of lines", "The mill keeps\nits key in the garden.", '"The mill keeps its key in the garden."'],
  [
    "and not by its link alone",
    'See ["mill"](https://a.example/an/address/that/is/longer/than/all/else) and ["gate"][] for the keys today.',
    undefined,
  ],
])("a sentence is cited whole, %s", (_, text, quote) => {
  const answer = answerText(statements({ number: 1, title: "", text }), "quote");
  if (quote === undefined) expect(answer).toMatch(/today\. \[1\]$/);
  else expect(answer).toContain(`[1: ${quote}]`);
});
