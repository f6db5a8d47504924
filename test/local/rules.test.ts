import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../src/local/service.js";
import { defaultTokens } from "../../src/text/tokens.js";
import { paths, post } from "./conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService({ apiKey: "right" });
});
afterAll(() => service.close());

const embeddings = (change: object) => ({ model: "citewell/local-lexical", input: "text", ...change });
const rerank = (change: object) => ({
  model: "citewell/local-lexical-rerank",
  query: "apple",
  documents: ["an apple", "a pear"],
  ...change,
});
const message = { role: "user", content: "hello" };
const chat = (change: object) => ({
  model: "citewell/local-extractive",
  messages: [message],
  stream: false,
  ...change,
});
const q3 = (change: object) => chat({ model: "citewell/local-extractive-q3", ...change });
const d = (change: object) => chat({ model: "citewell/local-extractive-d", ...change });
const s = (change: object) => chat({ model: "citewell/local-extractive-s", ...change });
const image = { type: "image_url", image_url: { url: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" } };
const vision = (change: object) =>
  chat({ model: "citewell/local-look", messages: [{ role: "user", content: [image] }], ...change });
const tool = (change: object = {}) => ({ type: "function", function: { name: "f", ...change } });
const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

type Case = readonly [what: string, path: keyof typeof paths, body: object];

const accepted: readonly Case[] = [
  ["one text", "embeddings", embeddings({})],
  ["32 texts", "embeddings", embeddings({ input: many(32, "a") })],
  ["base64", "embeddings", embeddings({ encoding_format: "base64" })],
  ["float", "embeddings", embeddings({ encoding_format: "float" })],
  ["top_n of 1", "rerank", rerank({ top_n: 1 })],
  ["top_n above the number of documents", "rerank", rerank({ top_n: 99 })],
  ["an empty document", "rerank", rerank({ documents: [""] })],
  ["80 overlap tokens", "rerank", rerank({ overlap_tokens: 80 })],
  ["0 overlap tokens", "rerank", rerank({ overlap_tokens: 0 })],
  ["one chunk a document", "rerank", rerank({ max_chunks_per_doc: 1 })],
  ["10 messages", "chat", chat({ messages: many(10, message) })],
  ["16384 max_tokens", "chat", chat({ max_tokens: 16_384 })],
  ["4 stop sequences", "chat", chat({ stop: ["a", "b", "c", "d"] })],
  ["stop null", "chat", chat({ stop: null })],
  ["temperature 0 and 2", "chat", chat({ temperature: 2 })],
  ["top_p 1", "chat", chat({ top_p: 1 })],
  ["top_k -1", "chat", chat({ top_k: -1 })],
  ["top_k 100", "chat", chat({ top_k: 100 })],
  ["penalties of -2 and 2", "chat", chat({ frequency_penalty: -2, presence_penalty: 2 })],
  ["n of 8", "chat", chat({ n: 8 })],
  ["plain text format", "chat", chat({ response_format: { type: "text" } })],
  ["128 tools", "chat", chat({ tools: many(128, tool()) })],
  ["a function name of 64 letters", "chat", chat({ tools: [tool({ name: "f".repeat(64) })] })],
  ["strict null", "chat", chat({ tools: [tool({ strict: null })] })],
  ["reasoning_effort outside the families", "chat", chat({ reasoning_effort: "none" })],
  ["Q3 fields at their bounds", "chat", q3({ enable_thinking: false, thinking_budget: 32_768, min_p: 1 })],
  ["thinking of D", "chat", d({ thinking: { type: "disabled" } })],
  ["4096 max_tokens with a picture", "chat", vision({ max_tokens: 4096 })],
  ["a text part without text", "chat", vision({ messages: [{ role: "user", content: [image, { type: "text" }] }] })],
];

test.each(accepted)("%s is accepted (%s)", async (_, path, body) => {
  const { status, text } = await post(service, paths[path], body);
  expect({ status, text }).toEqual({ status: 200, text: expect.any(String) });
});

const refused: readonly (readonly [...Case, field: string])[] = [
  ["no input", "embeddings", { model: "citewell/local-lexical" }, "input"],
  ["an empty text", "embeddings", embeddings({ input: "" }), "input"],
  ["an empty text among others", "embeddings", embeddings({ input: ["a", ""] }), "input"],
  ["no texts", "embeddings", embeddings({ input: [] }), "input"],
  ["token ids", "embeddings", embeddings({ input: [1, 2] }), "input"],
  ["an unknown encoding", "embeddings", embeddings({ encoding_format: "int8" }), "encoding_format"],
  ["an unknown field", "embeddings", embeddings({ dimensions: 256 }), "dimensions"],
  ["an empty query", "rerank", rerank({ query: "" }), "query"],
  ["no query", "rerank", { model: "citewell/local-lexical-rerank", documents: ["a"] }, "query"],
  ["no documents", "rerank", rerank({ documents: [] }), "documents"],
  ["documents as objects", "rerank", rerank({ documents: [{ text: "a" }] }), "documents"],
  ["top_n of 0", "rerank", rerank({ top_n: 0 }), "top_n"],
  ["half a result", "rerank", rerank({ top_n: 1.5 }), "top_n"],
  ["81 overlap tokens", "rerank", rerank({ overlap_tokens: 81 }), "overlap_tokens"],
  ["-1 overlap tokens", "rerank", rerank({ overlap_tokens: -1 }), "overlap_tokens"],
  ["no chunk a document", "rerank", rerank({ max_chunks_per_doc: 0 }), "max_chunks_per_doc"],
  ["return_documents as a word", "rerank", rerank({ return_documents: "yes" }), "return_documents"],
  ["no message", "chat", chat({ messages: [] }), "messages"],
  ["11 messages", "chat", chat({ messages: many(11, message) }), "messages"],
  ["the role tool", "chat", chat({ messages: [{ role: "tool", content: "a" }] }), "messages.0.role"],
  ["a message without content", "chat", chat({ messages: [{ role: "user" }] }), "messages.0.content"],
  ["parts for a text model", "chat", chat({ messages: [{ role: "user", content: [image] }] }), "messages.0.content"],
  ["max_tokens of 0", "chat", chat({ max_tokens: 0 }), "max_tokens"],
  ["16385 max_tokens", "chat", chat({ max_tokens: 16_385 }), "max_tokens"],
  ["5 stop sequences", "chat", chat({ stop: ["a", "b", "c", "d", "e"] }), "stop"],
  ["no stop sequence", "chat", chat({ stop: [] }), "stop"],
  ["stop as a string", "chat", chat({ stop: "a" }), "stop"],
  ["temperature above 2", "chat", chat({ temperature: 2.1 }), "temperature"],
  ["top_p of 0", "chat", chat({ top_p: 0 }), "top_p"],
  ["top_p above 1", "chat", chat({ top_p: 1.1 }), "top_p"],
  ["top_k of 0", "chat", chat({ top_k: 0 }), "top_k"],
  ["top_k of 101", "chat", chat({ top_k: 101 }), "top_k"],
  ["frequency_penalty above 2", "chat", chat({ frequency_penalty: 2.1 }), "frequency_penalty"],
  ["n of 0", "chat", chat({ n: 0 }), "n"],
  ["n of 9", "chat", chat({ n: 9 }), "n"],
  ["json_schema", "chat", chat({ response_format: { type: "json_schema" } }), "response_format.type"],
  ["129 tools", "chat", chat({ tools: many(129, tool()) }), "tools"],
  ["a function name of 65 letters", "chat", chat({ tools: [tool({ name: "f".repeat(65) })] }), "tools.0.function.name"],
  ["a dot in a function name", "chat", chat({ tools: [tool({ name: "a.b" })] }), "tools.0.function.name"],
  ["another kind of tool", "chat", chat({ tools: [{ type: "web_search" }] }), "tools.0.type"],
  ["enable_thinking outside Q3", "chat", chat({ enable_thinking: true }), "enable_thinking"],
  ["thinking_budget outside Q3", "chat", d({ thinking_budget: 1024 }), "thinking_budget"],
  ["thinking_budget of 0", "chat", q3({ thinking_budget: 0 }), "thinking_budget"],
  ["thinking_budget of 32769", "chat", q3({ thinking_budget: 32_769 }), "thinking_budget"],
  ["min_p above 1", "chat", q3({ min_p: 1.1 }), "min_p"],
  ["thinking outside D", "chat", q3({ thinking: { type: "enabled" } }), "thinking"],
  ["another word for thinking", "chat", d({ thinking: { type: "auto" } }), "thinking.type"],
  ["reasoning_effort of a family", "chat", s({ reasoning_effort: "low" }), "reasoning_effort"],
  ["an unknown reasoning_effort", "chat", chat({ reasoning_effort: "huge" }), "reasoning_effort"],
  ["a string for a vision model", "chat", vision({ messages: [message] }), "messages.0.content"],
  ["no part", "chat", vision({ messages: [{ role: "user", content: [] }] }), "messages.0.content"],
  ["4097 max_tokens with a picture", "chat", vision({ max_tokens: 4097 }), "max_tokens"],
  ["tools with a picture", "chat", vision({ tools: [tool()] }), "tools"],
  ["no model", "chat", { messages: [message] }, "model"],
  ["a model that is no string", "rerank", rerank({ model: 7 }), "model"],
];

test.each(refused)("%s is refused with 400 (%s)", async (_, path, body, field) => {
  const answer = await post(service, paths[path], body);
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ code: 20_015, message: expect.stringContaining(field), data: null });
});

describe("models", () => {
  test.each([
    ["embeddings", embeddings({ model: "unknown" })],
    ["rerank", rerank({ model: "unknown" })],
    ["chat", chat({ model: "unknown" })],
    ["chat", chat({ model: "citewell/local-lexical" })],
  ] as const)("a model that is not published for %s is refused with the service's words", async (path, body) => {
    const answer = await post(service, paths[path], body);
    expect(answer).toMatchObject({ status: 400, body: { code: 20_012, message: "暂不支持此种模型", data: null } });
  });
});

describe("keys", () => {
  test.each([
    ["no key", "", "Invalid token"],
    ["another scheme", "Basic right", "Invalid token"],
    ["a wrong key", "Bearer wrong", "Api key is invalid"],
  ])("%s is answered with 401 and a bare JSON string", async (_, authorization, body) => {
    expect(await post(service, paths.chat, chat({}), { authorization })).toMatchObject({ status: 401, body });
  });

  test("the key is asked for before anything else is read", async () => {
    const answer = await post(service, "/llm/v1/nowhere", "{", { authorization: "Bearer wrong" });
    expect(answer.status).toBe(401);
  });
});

describe("bodies", () => {
  test.each(["", "{", "[]", "null", '"text"', "{} {}", "\u0000"])("%j is refused with 400", async (body) => {
    const answer = await post(service, paths.embeddings, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 20_015, data: null } });
  });

  test("an unknown path is answered with 404, another method with 405", async () => {
    expect(await post(service, "/llm/v1/nowhere", {})).toMatchObject({ status: 404, body: "404 page not found" });
    const headers = { authorization: `Bearer ${service.apiKey}` };
    expect((await fetch(service.url + paths.chat, { headers })).status).toBe(405);
  });
});

describe("lengths", () => {
  const textOf = (tokens: number) => " a".repeat(tokens);

  test.each([
    ["citewell/local-lexical", 512],
    ["citewell/local-lexical-m3", 8192],
  ])("%s takes %i tokens in one text and not one more", async (model, limit) => {
    expect(defaultTokens.count(textOf(limit))).toBe(limit);
    expect((await post(service, paths.embeddings, { model, input: ["a", textOf(limit)] })).status).toBe(200);
    expect(await post(service, paths.embeddings, { model, input: ["a", textOf(limit + 1)] })).toMatchObject({
      status: 413,
      body: { code: 20_042, message: `input must have less than ${limit} tokens`, data: null },
    });
  });

  test("33 texts are refused with both numbers", async () => {
    expect(await post(service, paths.embeddings, embeddings({ input: many(33, "a") }))).toMatchObject({
      status: 413,
      body: { code: 20_042, message: "input batch size 33 > maximum allowed batch size 32" },
    });
  });

  test("a conversation longer than the model's context is refused with both numbers", async () => {
    const models = [{ id: "small", type: "llm", contextTokens: 100 }] as const;
    const small = await startLocalService({ models });
    try {
      const content = textOf(200);
      const answer = await post(small, paths.chat, { model: "small", messages: [{ role: "user", content }] });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        message: "length of prompt_tokens (204) must be less than max_seq_len (100).",
      });
    } finally {
      await small.close();
    }
  });

  test("a body of more than 64 MB is refused with 413", async () => {
    const answer = await post(service, paths.embeddings, `{"input":"${"a".repeat(64 * 1024 * 1024)}"}`);
    expect(answer).toMatchObject({ status: 413, body: { code: 20_042 } });
  });
});
