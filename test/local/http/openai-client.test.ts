import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";

let service: LocalService;
let client: OpenAI;
beforeAll(async () => {
  service = await startLocalService();
  client = new OpenAI({ baseURL: `${service.url}/llm/v1`, apiKey: service.apiKey, maxRetries: 0 });
});
afterAll(() => service.close());

const model = "citewell/local-extractive";
const messages = [
  { role: "user" as const, content: "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?" },
];

test("lists the models", async () => {
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  expect(ids).toEqual(service.models.map(({ id }) => id));
});

test("reads the same vector from float and from base64", async () => {
  const input = ["a key", "a lock"];
  const embed = (encoding_format: "float" | "base64") =>
    client.embeddings.create({ model: "citewell/local-lexical", input, encoding_format });
  const floats = (await embed("float")).data.map(({ embedding }) => embedding);
  const encoded = (await embed("base64")).data.map(({ embedding }) => embedding as unknown as string);
  const decoded = encoded.map((text) => {
    const bytes = Buffer.from(text, "base64");
    return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
  });
  expect(decoded).toEqual(floats);
  // Left to itself the client asks for base64 and decodes it.
  const unasked = await client.embeddings.create({ model: "citewell/local-lexical", input });
  expect(unasked.data.map(({ embedding }) => Array.from(embedding))).toEqual(floats);
});

test("reads the same reply whole and streamed", async () => {
  const whole = await client.chat.completions.create({ model, messages, stream: false });
  let streamed = "";
  for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true })) {
    streamed += choices[0]?.delta.content ?? "";
  }
  expect(whole.choices[0]?.message.content).toMatch(/\n\nKeys expire after 90 days\.$/);
  expect(streamed).toMatch(/\n\nKeys expire after 90 days\.$/);
});

test("assembles a streamed tool call", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const stream = client.chat.completions.stream({
    model,
    messages: [{ role: "user", content: "What is the weather in Paris?" }],
    tools: [{ type: "function", function: { name: "get_weather", parameters } }],
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]?.finish_reason).toBe("tool_calls");
  expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Paris"}' },
  });
});

test("throws the client's own error classes", async () => {
  const wrong = new OpenAI({ baseURL: `${service.url}/llm/v1`, apiKey: "wrong", maxRetries: 0 });
  await expect(wrong.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  const bad = client.chat.completions.create({ model, messages: [], stream: false });
  await expect(bad).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  const nowhere = new OpenAI({ baseURL: `${service.url}/v2`, apiKey: service.apiKey, maxRetries: 0 });
  await expect(nowhere.models.list()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});
