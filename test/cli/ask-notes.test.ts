import { expect, test } from "vitest";
import { showAnswer } from "../../src/cli/commands/ask.js";
import type { Answer, AnswerEvent } from "../../src/core/types.js";

const answer = { text: "Keys expire.", answered: true, citations: [], hits: [], warnings: [] } as unknown as Answer;

test.each([
  [true, "Keys expire.\ncitewell:"],
  [false, "Keys expire.citewell:"],
])("a note within an answer starts a new line if a terminal (%s) shows both", async (isTTY, expected) => {
  let shown = "";
  const write = (text: string) => {
    shown += text;
    return true;
  };
  async function* events(): AsyncGenerator<AnswerEvent> {
    yield { type: "text-delta", text: "Keys expire." };
    yield { type: "warning", message: "one" };
    yield { type: "warning", message: "two" };
    yield { type: "finish", answer };
  }
  const io = { stdout: { write }, stderr: { write, isTTY, columns: 80 }, directory: "/" };
  await showAnswer(events(), io as unknown as Parameters<typeof showAnswer>[1]);
  expect(shown).toContain(`${expected} one\ncitewell: two\n`);
});
