import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { localDefaults } from "../../src/contract/catalogue.js";
import { chatModel } from "../../src/models/chat-model.js";
import { answer } from "../../src/stages/answer.js";
import { createTransport } from "../../src/transport/transport.js";
import { eventsOf, hit, retrieved } from "./scripted-model.js";

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const body = Buffer.from(`${chunk({ content: "Ja – 90" })}${chunk({}, "stop")}data: [DONE]\n\n`);
const last = '"stop"}]}\n';
/** From here on the reply has said that it is finished. */
const finished = body.indexOf(last) + last.length;

test("an upstream that dies at any byte of its stream ends the answer once, and never as finished too early", async () => {
  let length = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(body.subarray(0, length), () => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "k", backoffMs: 0 });
  onTestFinished(() => transport.close());
  const model = chatModel(transport, { model: localDefaults.chat });
  for (length = 1; length <= body.length; length++) {
    const events = await eventsOf(answer(model), retrieved([hit("Keys expire after 90 days.")]));
    const ends = events.filter(({ type }) => type === "finish" || type === "error");
    expect(ends, `cut after ${length} bytes`).toHaveLength(1);
    expect(events.at(-1)).toBe(ends[0]);
    if (length < finished) expect(ends[0]?.type, `cut after ${length} bytes`).toBe("error");
  }
});
