import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateObject, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startLocalService, type LocalService } from "../../src/local/service.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const id = "citewell/local-extractive";
const embeddingId = "citewell/local-lexical";
const prompt = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";

const providers = {
  "@ai-sdk/openai-compatible": () => {
    const { url, apiKey } = service;
    // Without supportsStructuredOutputs the provider does not send the schema at all.
    const provider = createOpenAICompatible({
      name: "local",
      baseURL: `${url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    return { chat: provider.chatModel(id), embedding: provider.embeddingModel(embeddingId) };
  },
  "@ai-sdk/openai": () => {
    const provider = createOpenAI({ baseURL: `${service.url}/v1`, apiKey: service.apiKey });
    return { chat: provider.chat(id), embedding: provider.embeddingModel(embeddingId) };
  },
};

describe.each(Object.entries(providers))("%s", (_, open) => {
  test("generateText answers, with the tokens that it took", async () => {
    const { text, usage, finishReason } = await generateText({
      model: open().chat,
      system: "Be brief.",
      prompt,
      seed: 7,
      maxOutputTokens: 100,
      stopSequences: ["nowhere"],
      maxRetries: 0,
    });
    expect(text).toMatch(/\n\nKeys expire after 90 days\.$/);
    expect(finishReason).toBe("stop");
    expect(usage.totalTokens).toBeGreaterThan(0);
  });

  test("streamText streams the same, with its tokens at the end", async () => {
    const { textStream, usage } = streamText({ model: open().chat, prompt, maxRetries: 0 });
    let text = "";
    let deltas = 0;
    for await (const delta of textStream) {
      text += delta;
      deltas++;
    }
    expect(text).toMatch(/\n\nKeys expire after 90 days\.$/);
    expect(deltas).toBeGreaterThan(1);
    expect((await usage).totalTokens).toBeGreaterThan(0);
  });

  test.each(["generateText", "streamText"])("%s runs a loop of tools", async (way) => {
    const cities: string[] = [];
    const request = {
      model: open().chat,
      prompt: "What is the weather in Paris?",
      stopWhen: stepCountIs(4),
      maxRetries: 0,
      tools: {
        get_weather: tool({
          description: "Weather of a city",
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            cities.push(city);
            return { temperature: 21 };
          },
        }),
      },
    };
    const text = way === "streamText" ? await streamText(request).text : (await generateText(request)).text;
    expect(cities).toEqual(["Paris"]);
    expect(text).toBe("get_weather says: temperature: 21");
  });

  test("a choice of tools is followed", async () => {
    const tools = {
      get_weather: tool({ inputSchema: z.object({ city: z.string() }) }),
      save_note: tool({ inputSchema: z.object({ note: z.string(), urgent: z.boolean() }) }),
    };
    const called = async (toolChoice: "none" | "required" | { type: "tool"; toolName: "save_note" }) => {
      const request = { model: open().chat, prompt: "What is the weather in Paris?", tools, toolChoice, maxRetries: 0 };
      return (await generateText(request)).toolCalls.map(({ toolName }) => toolName);
    };
    expect(await called("none")).toEqual([]);
    expect(await called("required")).toEqual(["get_weather"]);
    expect(await called({ type: "tool", toolName: "save_note" })).toEqual(["save_note"]);
  });

  test("generateObject and Output.object read a value of their schema", async () => {
    const schema = z.object({ days: z.number(), note: z.string().nullable() });
    const { object } = await generateObject({ model: open().chat, schema, prompt, maxRetries: 0 });
    expect(object.days).toBe(90);
    const { output } = await generateText({
      model: open().chat,
      output: Output.object({ schema }),
      prompt,
      maxRetries: 0,
    });
    expect(output).toEqual(object);
  });

  test("embedMany embeds 500 texts in their order", async () => {
    const values = Array.from({ length: 500 }, (_unused, at) => `text number ${at}`);
    const { embeddings } = await embedMany({ model: open().embedding, values, maxRetries: 0 });
    expect(embeddings).toHaveLength(500);
    const one = await embedMany({ model: open().embedding, values: [values[321]!], maxRetries: 0 });
    expect(embeddings[321]).toEqual(one.embeddings[0]);
  });

  test("an error says what is wrong", async () => {
    const asked = generateText({ model: open().chat, prompt, topP: 7, maxRetries: 0 });
    await expect(asked).rejects.toThrow("top_p: ");
  });
});
