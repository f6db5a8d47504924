import { createOpenAI as createOpenAI5 } from "ai-sdk-5-openai";
import { createOpenAI as createOpenAI6 } from "@ai-sdk/openai";
import * as ai5 from "ai-5";
import * as ai6 from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startLocalService } from "../../src/local/service.js";
import { bothServices } from "./both-services.js";

// The types of two versions are not one another's; what is used here is in each.
type Sdk = Pick<typeof ai6, "generateText" | "streamText" | "generateObject" | "stepCountIs" | "tool">;
const versions = {
  5: { sdk: ai5 as unknown as Sdk, createOpenAI: createOpenAI5 as unknown as typeof createOpenAI6 },
  6: { sdk: ai6 as Sdk, createOpenAI: createOpenAI6 },
};
const named = Object.entries(versions).map(([version, parts]) => ({ version, ...parts }));
const cases = named.flatMap((each) => Object.entries(bothServices).map(([name, start]) => ({ ...each, name, start })));
const context = "Context: API keys expire after 90 days. Ada renews them.";

// `openai(id)` uses the Responses API, where `openai.chat(id)` uses chat completions.
describe.each(cases)("the AI SDK $version with openai(id), at $name,", ({ sdk, createOpenAI, start }) => {
  const opened = async () => {
    const { url, apiKey, model } = await start();
    return createOpenAI({ baseURL: `${url}/v1`, apiKey })(model);
  };

  test("reads the same answer whole and as a stream", async () => {
    const model = await opened();
    const prompt = `${context}\n\nWhen do API keys expire?`;
    const whole = await sdk.generateText({ model, system: "Be brief.", prompt, maxRetries: 0 });
    expect(whole.text).toContain("90 days");
    expect(whole.finishReason).toBe("stop");
    expect(whole.usage.totalTokens).toBeGreaterThan(0);
    const streamed = sdk.streamText({ model, system: "Be brief.", prompt, maxRetries: 0 });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    expect(text).toBe(whole.text);
    expect(await streamed.finishReason).toBe("stop");
    expect((await streamed.usage).totalTokens).toBe(whole.usage.totalTokens);
  });

  test("goes on with the messages that it got, to which it refers by their ids", async () => {
    const model = await opened();
    const asked = [{ role: "user" as const, content: `${context}\n\nWhen do API keys expire?` }];
    const first = await sdk.generateText({ model, messages: asked, maxRetries: 0 });
    const then = [...asked, ...first.response.messages, { role: "user" as const, content: "Who renews the API keys?" }];
    const second = await sdk.generateText({ model, messages: then, maxRetries: 0 });
    expect(second.text).toContain("Ada renews them");
    const last = [...then, ...second.response.messages, ...asked];
    expect((await sdk.generateText({ model, messages: last, maxRetries: 0 })).text).toContain("90 days");
  });

  test("goes on with messages of another service's, and with what was said to them", async () => {
    const model = await opened();
    const told = [
      { role: "user" as const, content: `${context}\n\nWhen do API keys expire?` },
      { role: "assistant" as const, content: "API keys expire after 90 days." },
      { role: "user" as const, content: "Who renews the API keys?" },
    ];
    const first = await sdk.generateText({ model, messages: told, maxRetries: 0 });
    expect(first.text).toContain("Ada renews them");
    const then = [...told, ...first.response.messages, { role: "user" as const, content: "When do API keys expire?" }];
    expect((await sdk.generateText({ model, messages: then, maxRetries: 0 })).text).toContain("90 days");
  });
});

describe.each(named)("the AI SDK $version with openai(id), at the local service,", ({ sdk, createOpenAI }) => {
  test("runs a loop of tools, and reads objects of a schema", async () => {
    const { url, apiKey, close } = await startLocalService();
    const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey });
    const cities: string[] = [];
    const request = {
      model: openai("citewell/local-extractive"),
      prompt: "What is the weather in Paris?",
      stopWhen: sdk.stepCountIs(4),
      maxRetries: 0,
      tools: {
        get_weather: sdk.tool({
          description: "Weather of a city",
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }: { city: string }) => {
            cities.push(city);
            return { temperature: 21 };
          },
        }),
      },
    };
    expect((await sdk.generateText(request as never)).text).toBe("get_weather says: temperature: 21");
    expect(await sdk.streamText(request as never).text).toBe("get_weather says: temperature: 21");
    expect(cities).toEqual(["Paris", "Paris"]);
    const schema = z.object({ days: z.number(), note: z.string().nullable() });
    const { object } = await sdk.generateObject({
      model: openai("citewell/local-extractive"),
      schema,
      prompt: `${context}\n\nWhen do API keys expire?`,
      maxRetries: 0,
    });
    expect(object).toMatchObject({ days: 90 });
    await close();
  });

  test("shows the thinking of a model that thinks", async () => {
    const { url, apiKey, close } = await startLocalService();
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey })("citewell/local-extractive-q3");
    const { text, reasoningText, usage } = await sdk.generateText({
      model,
      prompt: `${context}\n\nWhen do API keys expire?`,
    });
    expect(text).toContain("90 days");
    expect(reasoningText).not.toBe("");
    expect(usage.reasoningTokens).toBeGreaterThan(0);
    await close();
  });
});
