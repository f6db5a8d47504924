import { expect, test } from "vitest";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";

const tools = [
  {
    name: "send_mail",
    description: "Sends a message to an address.",
    parameters: {
      type: "object",
      properties: { address: { type: "string", format: "email" }, copies: { type: "integer" } },
      required: ["address", "copies"],
    },
  },
  { name: "list_keys", description: "Lists keys.", parameters: { type: "object", properties: {} } },
];

async function draft(question: string) {
  const messages = [{ role: "user" as const, text: question, images: [] }];
  const call = { model: { id: "chat", type: "llm" }, signal: new AbortController().signal } as const;
  return chatEngine().draft({ messages, tools, json: false, thinks: false }, call);
}

test.each<[string, object]>([
  ["Please call send_mail with address jo@example.org and copies 2.", { address: "jo@example.org", copies: 2 }],
  ["请调用 send_mail，address jo@example.org，copies 2", { address: "jo@example.org", copies: 2 }],
])("a tool that is named to be called is called, though it changes something: %s", async (question, expected) => {
  expect((await draft(question)).toolCalls).toEqual([{ name: "send_mail", arguments: expected }]);
});

test.each([
  ["Call the tool `send_mail` with 2 copies.", "To call send_mail, I need: address."],
  ["请调用 send_mail。", "要调用 send_mail，还缺少：address、copies。"],
])("a tool that is named without its arguments says what it lacks: %s", async (question, expected) => {
  expect(await draft(question)).toMatchObject({ content: expected, toolCalls: [] });
});

test("a tool that changes something is not called because a question mentions it", async () => {
  expect((await draft("What does send_mail do with jo@example.org and 2 copies?")).toolCalls).toEqual([]);
});
