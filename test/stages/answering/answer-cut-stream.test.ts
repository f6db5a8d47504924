// In test:all alone: it breaks a stream at each of its bytes, for 7 s.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { answer } from "../../../src/stages/answering/answer.js";
import { tool } from "../../../src/core/tool.js";
import { createTransport } from "../../../src/transport/transport.js";
import type { AnswerEvent } from "../../../src/core/types.js";
import { eventsOf, hit, retrieved } from "./scripted-model.js";

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const textBody = Buffer.from(`${chunk({ content: "Ja – 90" })}${chunk({}, "stop")}data: [DONE]\n\n`);
const last = '"stop"}]}\n';
/** From this event on the reply is finished. */
const finished = textBody.indexOf(last) + last.length;

/** A model whose upstream ends its reply after that many bytes of the body. */
async function cutting(body: Buffer) {
  const cut = { length: 0 };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(body.subarray(0, cut.length), () => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "k", maxRetries: 0 });
  onTestFinished(() => transport.close());
  return { cut, model: chatModel(transport, { model: localDefaults.chat }) };
}

const sources = retrieved([hit("Keys expire after 90 days.")]);
const ending = ({ type }: AnswerEvent) => type === "finish" || type === "error";

test("an upstream that dies at any byte of its stream ends the answer once, and never as finished too early", async () => {
  const { cut, model } = await cutting(textBody);
  for (let length = 1; length <= textBody.length; length++) {
    cut.length = length;
    const events = await eventsOf(answer(model), sources);
    const ends = events.filter(ending);
    expect(ends, `cut after ${length} bytes`).toHaveLength(1);
    expect(events.at(-1)).toBe(ends[0]);
    if (length < finished) expect(ends[0]?.type, `cut after ${length} bytes`).toBe("error");
  }
});

const call = { index: 0, id: "c1", function: { name: "keep", arguments: '{"word":"a"}' } };
const callBody = Buffer.from(`${chunk({ tool_calls: [call] })}${chunk({}, "tool_calls")}data: [DONE]\n\n`);
const lastOfCall = '"tool_calls"}]}\n';
const called = callBody.indexOf(lastOfCall) + lastOfCall.length;

test("an upstream that dies runs no tool before its finish event", async () => {
  const { cut, model } = await cutting(callBody);
  let runs = 0;
  const keep = tool({ name: "keep", description: "", input: z.object({ word: z.string() }), run: () => ++runs });
  for (let length = 1; length <= callBody.length; length++) {
    cut.length = length;
    const events = await eventsOf(answer(model, { tools: [keep], maxRounds: 1 }), sources);
    expect(events.findIndex(ending), `cut after ${length} bytes`).toBe(events.length - 1);
    if (length < called) expect([events.at(-1)?.type, runs], `cut after ${length} bytes`).toEqual(["error", 0]);
  }
  expect(runs).toBeGreaterThan(0);
});
