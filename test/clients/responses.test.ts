import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import { expect, test } from "vitest";
import { served } from "../support/served.js";

// `openai(id)` of the AI SDK uses the Responses API, where `openai.chat(id)` uses chat completions.
test("the AI SDK's provider for OpenAI, as it is by default, reads an answer with its source", async () => {
  const { url } = await served([
    { uri: "https://docs.example/keys", title: "Keys", text: "API keys expire after 90 days." },
  ]);
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "any" });
  const prompt = "When do API keys expire?";
  const whole = await generateText({ model: openai("citewell"), prompt });
  expect(whole).toMatchObject({ text: expect.stringContaining("90 days") as string, finishReason: "stop" });
  expect(whole.sources).toMatchObject([{ sourceType: "url", url: "https://docs.example/keys", title: "Keys" }]);
  const streamed = streamText({ model: openai("citewell"), prompt });
  let text = "";
  for await (const piece of streamed.textStream) text += piece;
  expect(text).toBe(whole.text);
  expect(await streamed.sources).toMatchObject([{ url: "https://docs.example/keys" }]);
  expect((await streamed.usage).totalTokens).toBeGreaterThan(0);
});
