import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startLocalService, type LocalService } from "../../src/local/service.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const prompt = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";
const model = "citewell/local-extractive";
const connection = () => ({ apiKey: service.apiKey, configuration: { baseURL: `${service.url}/v1` }, maxRetries: 0 });

describe("@langchain/openai", () => {
  const chat = () => new ChatOpenAI({ model, ...connection() });

  test("invoke answers, with the tokens that it took", async () => {
    const reply = await chat().invoke([new SystemMessage("Be brief."), new HumanMessage(prompt)], {
      stop: ["nowhere"],
    });
    expect(reply.text).toMatch(/\n\nKeys expire after 90 days\.$/);
    expect(reply.usage_metadata?.total_tokens).toBeGreaterThan(0);
  });

  test("stream streams the same, with its tokens at the end", async () => {
    let text = "";
    let tokens = 0;
    for await (const chunk of await chat().stream(prompt)) {
      text += chunk.text;
      tokens = chunk.usage_metadata?.total_tokens ?? tokens;
    }
    expect(text).toMatch(/\n\nKeys expire after 90 days\.$/);
    expect(tokens).toBeGreaterThan(0);
  });

  test("tools are called, and their results answered from", async () => {
    const getWeather = tool(({ city }: { city: string }) => JSON.stringify({ city, temperature: 21 }), {
      name: "get_weather",
      description: "Weather of a city",
      schema: z.object({ city: z.string() }),
    });
    const bound = chat().bindTools([getWeather]);
    const asked = new HumanMessage("What is the weather in Paris?");
    const reply = await bound.invoke([asked]);
    expect(reply.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Paris" } }]);
    const results = (await Promise.all(
      (reply.tool_calls ?? []).map((call) => getWeather.invoke(call)),
    )) as ToolMessage[];
    const answer = await bound.invoke([asked, reply, ...results]);
    expect(answer.text).toBe("get_weather says: city: Paris, temperature: 21");
    const forced = await chat().bindTools([getWeather], { tool_choice: "get_weather" }).invoke("Hello");
    expect(forced.tool_calls).toMatchObject([{ name: "get_weather" }]);
  });

  test.each(["jsonSchema", "functionCalling"] as const)("withStructuredOutput reads a value by %s", async (method) => {
    const schema = z.object({ days: z.number(), note: z.string().nullable() });
    const structured = chat().withStructuredOutput(schema, { name: "expiry", method });
    expect(await structured.invoke(prompt)).toMatchObject({ days: 90 });
  });

  test("embeddings come in batches of its own, and in their order", async () => {
    const embeddings = new OpenAIEmbeddings({ model: "citewell/local-lexical", ...connection() });
    const texts = Array.from({ length: 600 }, (_, at) => `text number ${at}`);
    const vectors = await embeddings.embedDocuments(texts);
    expect(vectors).toHaveLength(600);
    expect(vectors[555]).toEqual(await embeddings.embedQuery("text number 555"));
    const short = new OpenAIEmbeddings({ model: "citewell/local-lexical", dimensions: 64, ...connection() });
    expect(await short.embedQuery("a")).toHaveLength(64);
  });
});
