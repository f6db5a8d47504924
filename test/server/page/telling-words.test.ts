import { expect, test } from "vitest";
import { tellingPlaces } from "../../../src/server/page/browser/text/telling-words.js";

function marked(text: string, question: string): string {
  let shown = "";
  let from = 0;
  for (const { start, end } of tellingPlaces(text, question)) {
    shown += start < from ? text.slice(from, end) : `${text.slice(from, start)}<${text.slice(start, end)}`;
    from = end;
  }
  return shown + text.slice(from);
}

test.each([
  ["Keys expire after 90 days.", "When does a key expire?", "<Keys <expire after 90 days."],
  ["The keyboard expired; a keyring stays.", "When do keys expire?", "The keyboard <expired; a keyring stays."],
  [
    "Ada renews them, as renewing is what she does.",
    "Who renews it?",
    "Ada <renews them, as <renewing is what she does.",
  ],
  ["如何轮换密钥：轮换要快。", "密钥多久轮换一次？", "如何<轮换<密钥：<轮换要快。"],
  ["What is this?", "What is that?", "What is this?"],
])("%s is marked for %s", (text, question, expected) => {
  expect(marked(text, question)).toBe(expected);
});
