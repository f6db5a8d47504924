import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { served } from "../support/served.js";

test("the AI SDK's transport reads an answer into a message, without a page", async () => {
  const { url } = await served([{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }]);
  const stream = await new DefaultChatTransport({ api: `${url}/api/chat` }).sendMessages({
    trigger: "submit-message",
    chatId: "chat",
    messageId: undefined,
    messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "When do API keys expire?" }] }],
    abortSignal: undefined,
  });
  const states: UIMessage[] = [];
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) states.push(message);
  expect(states.length).toBeGreaterThan(3);
  expect(states.at(-1)!.parts).toMatchObject([
    { type: "step-start" },
    { type: "text", text: expect.stringMatching(/API keys expire after 90 days\..*\[1\]$/s) as string, state: "done" },
    { type: "source-document", sourceId: "keys", title: "Keys" },
    { type: "data-citation", data: { number: 1, uri: "keys", supported: true } },
  ]);
});
