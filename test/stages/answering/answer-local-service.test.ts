import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { chatModel } from "../../../src/models/chat-model.js";
import type { ChatModel } from "../../../src/core/ports.js";
import { answer, collectAnswer } from "../../../src/stages/answering/answer.js";
import { tool } from "../../../src/core/tool.js";
import { createTransport } from "../../../src/transport/transport.js";
import { eventsOf, hit, retrieved } from "./scripted-model.js";

let service: LocalService;
let model: ChatModel;
beforeAll(async () => {
  service = await startLocalService();
  model = chatModel(createTransport({ baseUrl: service.url, apiKey: service.apiKey }), { model: localDefaults.chat });
});
afterAll(() => service.close());

const keys = hit("# Keys\n\nAPI keys expire after **90 days**. They cannot be renewed.");

test("an answer over the wire is cited with the document's own words", async () => {
  const question = "When do API keys expire?";
  const whole = await collectAnswer(await eventsOf(answer(model), retrieved([keys], { question })));
  expect(whole.answered).toBe(true);
  expect(whole.citations).toMatchObject([{ uri: "keys.md", line: 3, start: 8, supported: true }]);
  expect(whole.citations[0]?.quote).toContain("90 days");
});

test("a question that the sources do not answer is not answered over the wire", async () => {
  const question = "Who won the football world cup in 1998?";
  const whole = await collectAnswer(await eventsOf(answer(model), retrieved([keys], { question })));
  expect(whole).toMatchObject({ answered: false, citations: [] });
});

test("a tool called over the wire runs under its own name, and its result reaches the answer", async () => {
  const weather = tool({
    name: "weather.get",
    description: "Gets the weather of a city",
    input: z.object({ city: z.string() }),
    run: ({ city }) => `Sunny in ${city}`,
  });
  const question = "What is the weather in Paris?";
  const events = await eventsOf(answer(model, { tools: [weather] }), retrieved([keys], { question }));
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool-call", name: "weather.get", input: { city: "Paris" } }),
  );
  expect((await collectAnswer(events)).text).toContain("Sunny in Paris");
});
