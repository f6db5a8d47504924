import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { KnowledgeBase } from "../../src/knowledge-base/options.js";
import { collect } from "../../src/core/stream.js";
import { streamed, transportFor } from "../support/transport-for.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Act = (kb: KnowledgeBase, options: never) => unknown;

const filter = { metadata: { tenant: "a" } };
const asking: Act = (kb, options) => collect(kb.ask("who?", options));

// Mistakes of a first hour. Each of them did nothing, and said nothing.
const mistakes: readonly (readonly [string, Act, object, string])[] = [
  [
    "search filters",
    (kb, options) => kb.search("who?", options),
    { filters: filter },
    '"filters"; did you mean "filter"?',
  ],
  ["search topK", (kb, options) => kb.search("who?", options), { topK: 3 }, '"topK"; did you mean "limit"?'],
  ["search of a blank", (kb) => kb.search("  "), {}, "search: the question is blank"],
  ["ask filters", asking, { filters: filter }, '"filters"; did you mean "filter"?'],
  ["ask topK", asking, { topK: 3 }, '"topK"; did you mean "topN"?'],
  ["ask abortSignal", asking, { abortSignal: AbortSignal.abort() }, '"abortSignal"; did you mean "signal"?'],
  ["ask of a blank", (kb) => collect(kb.ask("")), {}, "ask: the question is blank"],
  ["ask of nothing", (kb, options) => collect(kb.ask(options)), {}, "ask: question: "],
  [
    "a question with filters",
    (kb, options) => collect(kb.ask(options)),
    { question: "who?", filters: filter },
    '"filters"; did you mean "filter"?',
  ],
  [
    "turns of another library",
    (kb, options) => collect(kb.ask(options)),
    { question: "who?", history: [{ role: "user", content: "hello" }] },
    'there is no option "history.0.content"; did you mean "text"?',
  ],
  ["answer options", asking, { answer: { tool: [] } }, 'ask: there is no option "answer.tool"; did you mean "tools"?'],
  ["conversation by its id alone", (kb, options) => kb.conversation(options), "abc" as never, "conversation: "],
  [
    "conversation with a user",
    (kb, options) => kb.conversation(options),
    { id: "a", user: "u" },
    '"user"; there are: id, owner',
  ],
  ["conversations of a user", (kb, options) => kb.conversations(options), { user: "u" }, '"user"; there are: owner'],
];

test.each(mistakes)("%s: one line names the mistake and the way out", async (_, act, options, message) => {
  const { transport, upstream } = await transportFor(() => streamed("nothing"));
  const models = { embedding: "test/embed-m3", chat: "test/chat" };
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport, models });
  onTestFinished(() => kb.close());
  const run = async () => act(kb, options as never);
  await expect(run()).rejects.toMatchObject({
    name: "OptionsError",
    message: expect.stringContaining(message) as string,
  });
  expect(upstream.requests).toEqual([]);
});
