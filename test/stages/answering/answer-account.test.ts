import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { collectAnswer } from "../../../src/stages/answering/answer.js";
import { searchTool } from "../../../src/stages/answering/search-tool.js";
import type { RecordedRequest, ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { chunk, transportFor } from "../../support/transport-for.js";

const models = { embedding: "test/embed-m3", rerank: "test/rerank", chat: "test/chat" };
const prices = { "test/embed-m3": { input: 1 }, "test/rerank": { input: 2 }, "test/chat": { input: 10, output: 100 } };
const said = (delta: unknown, reason: string, prompt: number, completion: number): ScriptedReply => ({
  sse: [
    { ...chunk(delta), model: "test/chat-2" },
    { ...chunk({}, { finish_reason: reason }), usage: { prompt_tokens: prompt, completion_tokens: completion } },
    "[DONE]",
  ],
});

/** Condenses a follow-up, then searches once more, then answers. */
function service({ path, body }: RecordedRequest): ScriptedReply {
  const { input = [], documents = [], messages = [] } = body as Record<string, { role: string; content: string }[]>;
  if (path.endsWith("/rerank")) {
    const results = documents.map((_, index) => ({ index, relevance_score: 1 - index / 100 }));
    return { json: { results, meta: { tokens: { input_tokens: 40, output_tokens: 0 } } } };
  }
  if (path.endsWith("/embeddings")) {
    const data = input.map((_, index) => ({ index, embedding: [1, index + 1] }));
    return { json: { data, usage: { prompt_tokens: 3 } } };
  }
  if (messages[0]?.content.startsWith("Rewrite")) return said({ content: "How long do keys last?" }, "stop", 50, 5);
  if (messages.at(-1)?.content.startsWith("<tool_response>")) {
    return said({ content: 'They last 90 days [1: "90 days"].' }, "stop", 700, 9);
  }
  const called = { index: 0, id: "c1", function: { name: "search_documents", arguments: '{"query":"keys"}' } };
  return said({ tool_calls: [called] }, "tool_calls", 600, 8);
}

async function ask(options: Parameters<typeof transportFor>[1], answers: typeof service = service) {
  const { transport } = await transportFor(answers, options);
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport, models });
  onTestFinished(() => kb.close());
  await kb.ingest([{ uri: "keys.md", text: "Keys expire after 90 days.", metadata: { year: 2026 } }]);
  const history = [
    { role: "user", text: "What is a key?" },
    { role: "assistant", text: "A secret." },
  ] as const;
  const question = { question: "And how long does it last?", history };
  const filter = { metadata: { year: 2026 } };
  return collectAnswer(kb.ask(question, { filter, answer: { tools: [searchTool(kb)] } }));
}

test("the account of an answer is plain data: what was asked, found, sent and paid, and how long each step took", async () => {
  const { account, trace, usage, model: answeredBy } = await ask({ prices });
  // The service names another model than was asked for, which the requests name (C20).
  expect(answeredBy).toBe("test/chat-2");
  expect(JSON.parse(JSON.stringify(account))).toEqual(account);
  expect(account.asked).toEqual({
    question: "And how long does it last?",
    standalone: "How long do keys last?",
    filter: { metadata: { year: 2026 } },
    historyTurns: 2,
  });
  expect(account.trace).toEqual([...trace]);
  expect(account.trace.map(({ step }) => step)).toEqual([
    "condense",
    "search hybrid",
    "rerank",
    "pack",
    "search_documents",
  ]);
  expect(
    account.requests.map(({ step, model, messages, inputTokens, outputTokens }) => [
      step,
      model,
      messages,
      inputTokens,
      outputTokens,
    ]),
  ).toEqual([
    ["condense", "test/chat", undefined, 50, 5],
    ["embed-question", "test/embed-m3", undefined, 3, 0],
    ["rerank", "test/rerank", undefined, 40, 0],
    ["answer", "test/chat", 4, 600, 8],
    ["search_documents > embed-question", "test/embed-m3", undefined, 3, 0],
    ["answer", "test/chat", 6, 700, 9],
  ]);
  expect(account.paid).toEqual({
    inputTokens: 1396,
    outputTokens: 22,
    cost: expect.closeTo(0.015786, 9) as number,
    failedAttempts: 0,
  });
  for (const request of account.requests) expect(request).not.toHaveProperty("failedAttempts");
  expect(usage).toEqual({ inputTokens: 1350, outputTokens: 22 });
  expect(Object.keys(account.milliseconds)).toEqual(
    expect.arrayContaining(["condense", "embed-question", "search hybrid", "rerank", "answer"]),
  );
  for (const { milliseconds } of account.requests) expect(milliseconds).toBeGreaterThan(0);
});

test("the account has no total cost when a model has no price", async () => {
  const { account } = await ask({ prices: { "test/chat": prices["test/chat"] } });
  expect(account.paid).toEqual({ inputTokens: 1396, outputTokens: 22, failedAttempts: 0 });
  expect(account.requests.map(({ step, cost }) => [step, cost !== undefined])).toContainEqual(["condense", true]);
  expect(account.requests.find(({ step }) => step === "rerank")).not.toHaveProperty("cost");
});

test("the account lists each failed attempt and each request that was never answered", async () => {
  const failing: ScriptedReply[] = [{ status: 503 }, { status: 429, retryAfterSeconds: 0 }];
  let stores = true;
  const { account } = await ask({ prices, maxRetries: 2 }, (request) => {
    const { messages } = request.body as { readonly messages?: readonly { readonly content: string }[] };
    // The question's embedding is sent three times; condensing and reranking always fail.
    if (request.path.endsWith("/embeddings")) {
      if (stores) stores = false;
      else return failing.shift() ?? service(request);
    }
    const rewrites = messages?.[0]?.content.startsWith("Rewrite") === true;
    if (rewrites || request.path.endsWith("/rerank")) return { status: 500 };
    return service(request);
  });
  const told = account.requests.map(({ step, inputTokens, cost, failedAttempts, unanswered }) => ({
    step,
    inputTokens,
    failed: failedAttempts?.map(({ code, status }) => `${code} ${status}`),
    unanswered,
    hasCost: cost !== undefined,
  }));
  const down = ["upstream 500", "upstream 500", "upstream 500"];
  const answered = { failed: undefined, unanswered: undefined, hasCost: true };
  expect(told).toEqual([
    { step: "condense", inputTokens: 0, failed: down, unanswered: true, hasCost: true },
    { ...answered, step: "embed-question", inputTokens: 3, failed: ["upstream 503", "rate-limited 429"] },
    { step: "rerank", inputTokens: 0, failed: down, unanswered: true, hasCost: true },
    { ...answered, step: "answer", inputTokens: 600 },
    { ...answered, step: "search_documents > embed-question", inputTokens: 3 },
    { ...answered, step: "answer", inputTokens: 700 },
  ]);
  expect(account.paid).toMatchObject({ inputTokens: 1306, failedAttempts: 8 });
});
