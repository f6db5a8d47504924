import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { paths, post } from "../conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService({ apiKey: "right" });
});
afterAll(() => service.close());

const embeddings = (change: object) => ({ model: "citewell/local-lexical", input: "text", ...change });
const message = { role: "user", content: "hello" };
const chat = (change: object) => ({
  model: "citewell/local-extractive",
  messages: [message],
  stream: false,
  ...change,
});
const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

test("8 choices are returned and 9 are refused", async () => {
  expect((await post(service, paths.chat, chat({ n: 8 }))).status).toBe(200);
  const body = { code: 20_015, message: "n: is 9, at most 8", data: null };
  expect(await post(service, paths.chat, chat({ n: 9 }))).toMatchObject({ status: 400, body });
});

describe("keys", () => {
  test.each([
    ["no key", "", "Invalid token"],
    ["another scheme", "Basic right", "Invalid token"],
    ["a wrong key", "Bearer wrong", "Api key is invalid"],
  ])("%s is answered with 401 and a bare JSON string", async (_, authorization, body) => {
    expect(await post(service, paths.chat, chat({}), { authorization })).toMatchObject({ status: 401, body });
  });

  test("the key is checked before the body is read", async () => {
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
