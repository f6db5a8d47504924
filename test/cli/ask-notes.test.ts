import { Readable } from "node:stream";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandIo } from "../../src/cli/command-context.js";
import { run } from "../../src/cli/program.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { showAnswer } from "../../src/cli/commands/ask.js";
import type { Answer, AnswerEvent } from "../../src/core/types.js";

const answer = {
  question: "?",
  text: "Keys expire.",
  answered: true,
  citations: [],
  hits: [],
  warnings: [],
} as unknown as Answer;

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
  const stderr = { write, isTTY, columns: 80 };
  const io = { stdout: { write }, stderr, notes: stderr, directory: "/" };
  await showAnswer(events(), io as unknown as Parameters<typeof showAnswer>[1]);
  expect(shown).toContain(`${expected} one\ncitewell: two\n`);
});

test("on a terminal, a store's first answer and each chat say once that a stand-in answers, and how to connect a model", async () => {
  const folder = await temporaryFolder();
  const kb = await openKnowledgeBase({ path: join(folder, ".citewell") });
  await kb.ingest([{ uri: "keys.md", text: "Keys expire after 90 days." }]);
  await kb.close();
  const notes = async (words: readonly string[], { isTTY = true, environment = {}, input = "" } = {}) => {
    let stderr = "";
    const io = {
      stdin: Readable.from([input]),
      stdout: { write: () => true },
      stderr: { write: (text: string) => (stderr += text), isTTY, columns: 80 },
      environment,
      directory: folder,
      signal: new AbortController().signal,
    };
    expect(await run(io as unknown as CommandIo, words)).toBe(0);
    return stderr.match(/answers are quotes.*CITEWELL_BASE_URL.*citewell migrate\n/g)?.length ?? 0;
  };
  const ask = ["ask", "When do keys expire?"];
  const questions = "When do keys expire?\nAfter how many days do keys expire?\n";
  expect(await notes([...ask, "--json"])).toBe(0);
  expect(await notes(ask, { isTTY: false })).toBe(0);
  expect(await notes(ask, { environment: { CITEWELL_CHAT_MODEL: "citewell/local-extractive" } })).toBe(0);
  expect(await notes(ask)).toBe(1);
  expect(await notes(ask)).toBe(0);
  expect(await notes(["chat"], { input: questions })).toBe(1);
  expect(await notes(["chat", "--json"], { input: questions })).toBe(0);
});
