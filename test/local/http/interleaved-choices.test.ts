import { expect, onTestFinished, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { startLocalService } from "../../../src/local/service.js";
import { createTransport } from "../../../src/transport/transport.js";

test("the choices of a stream take turns, and come together as those of a whole reply", async () => {
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  onTestFinished(async () => {
    await transport.close();
    await service.close();
  });
  const request = {
    model: "citewell/local-extractive",
    messages: [{ role: "user" as const, content: "Who are you, and what can you do for me?" }],
    n: 3,
  };
  const events = await collect(transport.chatStream(request));
  const order = events.flatMap((event) => (event.type === "text-delta" ? [event.choice ?? 0] : []));
  expect(order.length).toBeGreaterThan(6);
  expect(order).toEqual(order.map((_, place) => place % 3));
  const whole = await transport.chat(request);
  expect(events.at(-1)).toMatchObject({ type: "finish", result: { choices: whole.choices, usage: whole.usage } });
});
