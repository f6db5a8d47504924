import { describe, expect, test } from "vitest";
import { readQuestion } from "../../../src/local/engines/chat/question/question-reading.js";
import { unheardShare } from "../../../src/local/engines/chat/question/unheard-words.js";
import { chooseStatements } from "../../../src/local/engines/chat/statements/statement-choice.js";
import { statements } from "../../../src/local/engines/chat/statements/statements.js";

const inEnglish =
  "The gateway has a dashboard. You sign in to the dashboard of the gateway with a password. " +
  "The default password of the gateway is `green`. The gateway sends a report at the end of each day.";
const inChinese = "网关有一个仪表板。用密码登录网关的仪表板。网关的默认密码是 green。网关每天发送报告。";

const read = (text: string) => statements({ number: 1, title: "Gateway", text });
const isAnswered = (question: string, text: string) => chooseStatements(question, read(text)).length > 0;

describe("below a heading, a question with a telling word that no source holds", () => {
  test.each([
    ["What is the default password of the gateway's printer?", inEnglish],
    ["网关每天如何发送短信？", inChinese],
  ])("gets no answer: %s", (question, text) => {
    expect(isAnswered(question, `## Access\n\n${text}`)).toBe(false);
    // Without headings people ask in words of their own.
    expect(isAnswered(question, text)).toBe(true);
  });
});

describe("below a heading, a question is answered", () => {
  test.each([
    ["whose words a source holds", "What is the default password of the gateway?", inEnglish],
    ["whose words a source holds in Chinese", "网关如何发送报告？", inChinese],
    ["with a letter too many", "What is the default passsword of the gateway?", inEnglish],
    ["with a letter too few", "What is the default pasword of the gateway?", inEnglish],
    ["with two letters swapped", "What is the default apssword of the gateway?", inEnglish],
    ["with a wrong letter", "What is the default password of the gatexay?", inEnglish],
    ["with a synonym of a word", "What is the default credential of the gateway?", inEnglish],
    ["with a word that only puts it", "What exactly is the default password of the gateway?", inEnglish],
    [
      "with a word that says little among many",
      "My colleague has asked with which default password you sign in to the dashboard of the gateway at the end of each day.",
      inEnglish,
    ],
    [
      "with a word for the kind of thing it wants",
      "What happens if the gateway sends the report at the end of each day?",
      inEnglish,
    ],
  ])("%s", (_, question, text) => {
    expect(isAnswered(question, `## Access\n\n${text}`)).toBe(true);
  });
});

test.each([
  ["What is the default password of the printer?", 0.2, 1],
  ["How does the printer print?", 1, 1],
  ["What is the role of the dashboard?", 0, 0],
  ["What is the default password?", 0, 0],
  // Two words of Chinese whose characters make a pair that stands nowhere.
  ["网关报告密码", 0, 0],
  // … and one whose words are joined by characters that make no word with them.
  ["网关会后报告", 0, 0],
])("the share of unheard words in %s is between %d and %d", (question, low, high) => {
  const share = unheardShare(readQuestion(question, read(`${inEnglish}${inChinese}`)));
  expect(share).toBeGreaterThanOrEqual(low);
  expect(share).toBeLessThanOrEqual(high);
});
