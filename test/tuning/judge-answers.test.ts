import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChatModel } from "../../src/core/ports.js";
import type { Answer } from "../../src/core/types.js";
import { judgeAnswers } from "../../src/tuning/judge-answers.js";
import { citedSentences } from "../../src/tuning/judge-sentences.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const answer = {
  question: "When do keys expire, and who renews them?",
  text: "Keys expire after 90 days [1]. The desk renews them [2]. That is all.",
  answered: true,
  citations: [
    { number: 1, uri: "keys.md", quote: "Keys expire after 90 days." },
    { number: 2, uri: "keys.md", quote: "The desk opens at 8." },
  ],
} as unknown as Answer;

/** Judges each sentence by whether all its words stand in the sources; changes its mind on the second reading where told to. */
function judge(changesItsMind: boolean): ChatModel & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    model: "judge",
    contextTokens: 8192,
    maxOutputTokens: 1000,
    maxMessages: 4,
    price: { input: 1, output: 1 },
    tokens: { name: "fourths", count: (text) => Math.ceil(text.length / 4) },
    calls,
    stream: async function* ({ messages }) {
      const { content } = messages.at(-1)!;
      calls.push(content);
      const isSecond = content.startsWith("{");
      const sentences = [
        { number: 1, supported: !(changesItsMind && isSecond) },
        { number: 2, supported: false },
      ];
      yield { type: "text-delta", text: JSON.stringify({ sentences, relevance: 5, completeness: isSecond ? 3 : 5 }) };
      yield { type: "finish", reason: "stop", usage: { inputTokens: 200, outputTokens: 40 }, model: "judge" };
    },
  };
}

test("sentences are told apart with their citations, a number behind the full stop included", () => {
  expect(citedSentences(answer)).toEqual({
    cited: [
      { text: "Keys expire after 90 days.", cites: [1] },
      { text: "The desk renews them.", cites: [2] },
    ],
    uncited: 1,
  });
  expect(citedSentences({ text: "Keys expire. [1] Doors open. [2]" }).cited).toEqual([
    { text: "Keys expire.", cites: [1] },
    { text: "Doors open.", cites: [2] },
  ]);
});

test("an answer is judged twice, and how far both readings agree is said beside the figures and their cost", async () => {
  const steady = await judgeAnswers(judge(false), { answers: [{ answer }] });
  expect(steady).toMatchObject({
    answers: 1,
    faithfulness: { mean: 0.5, agreement: 1 },
    relevance: { mean: 1, agreement: 1 },
    completeness: { mean: 0.75, agreement: 0.5 },
    uncited: expect.closeTo(1 / 3, 12) as number,
    failed: 0,
    tokens: 480,
    cost: expect.closeTo(480e-6, 12) as number,
  });
  const changing = await judgeAnswers(judge(true), { answers: [{ answer }] });
  expect(changing.faithfulness).toMatchObject({ mean: 0.25, agreement: 0.5 });
});

test("judgements are kept: the same answers are not paid again, and a budget is not passed", async () => {
  const repliesPath = join(await temporaryFolder(), "judgements");
  const [first, second] = [judge(false), judge(false)];
  const one = await judgeAnswers(first, { answers: [{ answer }], repliesPath });
  expect(await judgeAnswers(second, { answers: [{ answer }], repliesPath })).toEqual(one);
  expect([first.calls.length, second.calls.length]).toEqual([2, 0]);
  const poor = await judgeAnswers(judge(false), { answers: [{ answer }], maxTokens: 300 });
  expect(poor).toMatchObject({ answers: 0, tokens: 0, stopped: expect.stringContaining("maxTokens is 300") as string });
});
