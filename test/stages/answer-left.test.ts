import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { localDefaults } from "../../src/contract/catalogue.js";
import { chatModel } from "../../src/models/chat-model.js";
import { Pipeline } from "../../src/pipeline.js";
import { answer } from "../../src/stages/answer.js";
import { createTransport } from "../../src/transport/transport.js";
import type { Retrieved } from "../../src/types.js";
import { hit, retrieved } from "./scripted-model.js";

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("leaving the loop closes the upstream's socket and leaves no timer", async () => {
  let closed: (at: number) => void = () => {};
  const closing = new Promise<number>((resolve) => (closed = resolve));
  const server = createServer((request, response) => {
    request.resume();
    response.on("close", () => closed(performance.now()));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = {
      id: "1",
      object: "chat.completion.chunk",
      model: "m",
      choices: [{ index: 0, delta: { content: "On " } }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "k" });
  onTestFinished(() => transport.close());
  const asking = Pipeline.from<Retrieved>().pipe(answer(chatModel(transport, { model: localDefaults.chat })));
  const before = timers();
  for await (const event of asking.stream([retrieved([hit("Keys expire after 90 days.")])])) {
    if (event.type === "text-delta") break;
  }
  const leftAt = performance.now();
  // The promise is 100 ms; the rest is for a machine that is busy with other tests.
  expect((await closing) - leftAt).toBeLessThan(1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(timers()).toBeLessThanOrEqual(before);
});
