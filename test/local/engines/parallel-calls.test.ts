import { describe, expect, test } from "vitest";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";
import type { ChatPrompt } from "../../../src/local/engines/engines.js";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [
  { name: "get_weather", description: "The weather of a city", parameters: city },
  { name: "get_time", description: "The local time of a city", parameters: city },
  { name: "send_mail", description: "Sends a mail", parameters: { type: "object", properties: {} } },
];

async function calls(question: string, prompt: Partial<ChatPrompt> = {}) {
  const { toolCalls } = await chatEngine().draft(
    { messages: [{ role: "user", text: question, images: [] }], tools, json: false, thinks: false, ...prompt },
    { model: { id: "m", type: "llm" }, signal: new AbortController().signal },
  );
  return toolCalls.map(({ name, arguments: given }) => `${name} ${Object.values(given).join(", ")}`.trim());
}

describe("a question that asks for two things gets two calls in one reply", () => {
  test.each([
    ["What is the weather in Oslo and in Rome?", ["get_weather Oslo", "get_weather Rome"]],
    ["What is the weather in Oslo and Rome?", ["get_weather Oslo", "get_weather Rome"]],
    ["Weather in Oslo, Rome and New York?", ["get_weather Oslo", "get_weather Rome", "get_weather New York"]],
    ["What is the weather in Oslo and what is the time in Rome?", ["get_weather Oslo", "get_time Rome"]],
    ["Tell me the weather in Oslo. What is the time in Rome?", ["get_weather Oslo", "get_time Rome"]],
  ])("%s", async (question, expected) => {
    expect(await calls(question)).toEqual(expected);
  });

  test("but one where parallel calls are forbidden, or one thing is asked for", async () => {
    expect(await calls("What is the weather in Oslo and Rome?", { parallelToolCalls: false })).toHaveLength(1);
    expect(await calls("What is the weather in Oslo?")).toEqual(["get_weather Oslo"]);
    expect(await calls("Is it cold and wet today?")).toEqual([]);
  });

  test("and none that the caller did not allow, nor one that writes unasked", async () => {
    expect(await calls("What is the weather in Oslo and Rome?", { toolChoice: "none" })).toEqual([]);
    const named = await calls("What is the weather in Oslo and Rome?", { toolChoice: { name: "get_time" } });
    expect(named.every((call) => call.startsWith("get_time"))).toBe(true);
    expect(await calls("What is the weather in Oslo, and who sends a mail?")).toEqual(["get_weather Oslo"]);
  });

  test("but one, where one call takes both", async () => {
    const pair = { type: "object", properties: { cities: { type: "array", items: { type: "string" } } } };
    const compare = [{ name: "compare_weather", description: "Compares the weather of cities", parameters: pair }];
    expect((await calls("Compare the weather in Oslo and Rome", { tools: compare })).length).toBeLessThanOrEqual(1);
  });
});
