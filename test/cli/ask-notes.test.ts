import { expect, test } from "vitest";
import { show } from "../../src/cli/ask-command.js";
import type { Answer, AnswerEvent } from "../../src/types.js";

const answer = { text: "Keys expire.", answered: true, citations: [], hits: [], warnings: [] } as unknown as Answer;

test.each([
  [true, "Keys expire.\ncitewell:"],
  [false, "Keys expire.citewell:"],
])("a note within an answer begins a line of its own where the terminal (%s) shows both", async (isTTY, expected) => {
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
  const world = { stdout: { write }, stderr: { write, isTTY, columns: 80 }, directory: "/" };
  await show(events(), world as unknown as Parameters<typeof show>[1]);
  expect(shown).toContain(`${expected} one\ncitewell: two\n`);
});
