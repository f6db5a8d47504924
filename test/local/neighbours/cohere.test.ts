import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { renderSourcedQuestion } from "../../../src/text/prompt/prompt.js";
import { chunk } from "../../support/transport-for.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

async function post({ url, apiKey }: LocalService, path: string, body: object) {
  const reply = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text(), ignored: reply.headers.get("x-citewell-ignored") };
}

const asked = renderSourcedQuestion({
  sources: [{ number: 1, uri: "keys", text: "Keys expire after 90 days." }],
  question: "When do keys expire?",
});

const events = (text: string) =>
  text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map(
      (line) =>
        JSON.parse(line.slice(6)) as { readonly type: string; readonly index?: number; readonly delta?: object },
    );

test("a chat in Cohere's shape is answered in it, and what has no effect is named", async () => {
  const messages = [{ role: "user", content: [{ type: "text", text: asked }] }];
  const body = { model: "citewell/local-extractive", messages, documents: ["ignored"], safety_mode: "OFF" };
  const { status, text, ignored } = await post(service, "/v2/chat", body);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    id: expect.any(String) as string,
    finish_reason: "COMPLETE",
    message: { role: "assistant", content: [{ type: "text", text: expect.stringContaining("90 days") as string }] },
    usage: { tokens: { input_tokens: expect.any(Number) as number, output_tokens: expect.any(Number) as number } },
  });
  expect(ignored).toBe("documents, safety_mode");
  expect((await post(service, "/v2/chat", { ...body, model: "command-a" })).status).toBe(404);
  expect((await post(service, "/v2/chat", { ...body, messages: [{ role: "user" }] })).status).toBe(400);
});

test("thinking, text and calls of a chat that is forwarded come as blocks, each opened and closed", async () => {
  const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
  const upstream = await scriptedUpstream([
    {
      sse: [
        chunk({ role: "assistant", content: "" }),
        chunk({ reasoning_content: "Let me" }),
        chunk({ reasoning_content: " see" }),
        chunk({ content: "Well" }),
        call(0, { id: "a", function: { name: "weather", arguments: "" } }),
        call(0, { function: { arguments: "{}" } }),
        call(1, { id: "b", function: { name: "weather", arguments: "[]" } }),
        chunk({}, { finish_reason: "tool_calls" }),
        "[DONE]",
      ],
    },
    { status: 503, json: { error: { message: "overloaded" } } },
    { json: { choices: [{ message: { content: null }, finish_reason: "content_filter" }] } },
  ]);
  const forwarding = await startLocalService({ forward: { chat: { baseUrl: upstream.baseUrl } } });
  try {
    const body = { model: "citewell/local-extractive", messages: [{ role: "user", content: "a" }] };
    const { text } = await post(forwarding, "/v2/chat", { ...body, stream: true });
    expect(events(text).map(({ type, index }) => [type, index])).toEqual([
      ["message-start", undefined],
      ["content-start", 0],
      ["content-delta", 0],
      ["content-delta", 0],
      ["content-end", 0],
      ["content-start", 1],
      ["content-delta", 1],
      ["content-end", 1],
      ["tool-call-start", 0],
      ["tool-call-delta", 0],
      ["tool-call-end", 0],
      ["tool-call-start", 1],
      ["tool-call-delta", 1],
      ["tool-call-end", 1],
      ["message-end", undefined],
    ]);
    expect(events(text).at(-1)).toMatchObject({ delta: { finish_reason: "TOOL_CALL" } });
    expect((await post(forwarding, "/v2/chat", body)).status).toBe(503);
    expect(JSON.parse((await post(forwarding, "/v2/chat", body)).text)).toMatchObject({ finish_reason: "ERROR" });
  } finally {
    await forwarding.close();
  }
});

test("texts are embedded in the forms that are asked for, and pictures are not", async () => {
  const model = "citewell/local-lexical-m3";
  const { text } = await post(service, "/v2/embed", {
    model,
    texts: ["keys", "locks"],
    embedding_types: ["float", "base64"],
  });
  const { embeddings, response_type } = JSON.parse(text) as {
    readonly embeddings: { readonly float: readonly number[][]; readonly base64: readonly string[] };
    readonly response_type: string;
  };
  expect(response_type).toBe("embeddings_by_type");
  const decoded = embeddings.base64.map((each) => {
    const bytes = Buffer.from(each, "base64");
    return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at));
  });
  expect(decoded).toEqual(embeddings.float);
  expect((await post(service, "/v2/embed", { model, images: ["data:image/png;base64,"] })).text).toContain(
    "texts: is required",
  );
  expect((await post(service, "/v2/embed", { model, texts: ["a", ""] })).text).toContain("texts.1: must not be empty");
});

test("embeddings in OpenAI's shape have an id, as clients of Mistral's need", async () => {
  const body = { model: "citewell/local-lexical-m3", input: ["keys"] };
  const [one, other] = await Promise.all([
    post(service, "/v1/embeddings", body),
    post(service, "/v1/embeddings", body),
  ]);
  const ids = [one, other].map(({ text }) => (JSON.parse(text) as { readonly id: string }).id);
  expect(ids[0]).toMatch(/^embd-/);
  expect(new Set(ids).size).toBe(2);
  expect(JSON.parse((await post(service, "/llm/v1/embeddings", body)).text)).not.toHaveProperty("id");
});
