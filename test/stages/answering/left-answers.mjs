// Run by answer-left.test.ts, in a process without other timers: leaves an answer at each of its events, and prints the
// timers that exist then.
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { chatModel } from "../../../dist/models/chat-model.js";
import { Pipeline } from "../../../dist/core/pipeline.js";
import { answer } from "../../../dist/stages/answering/answer.js";
import { tool } from "../../../dist/core/tool.js";
import { createTransport } from "../../../dist/transport/transport.js";

const { baseUrl, hits } = JSON.parse(process.argv[2]);
const transport = createTransport({ baseUrl, apiKey: "key" });
const input = z.object({});
const tools = [
  tool({ name: "write", description: "", input, writes: true, run: () => "written" }),
  tool({ name: "slow", description: "", input, run: (_, { signal }) => sleep(20, "late", { signal }) }),
];
const asking = Pipeline.from().pipe(
  answer(chatModel(transport, { model: "vendor/chat" }), { tools, approve: () => true }),
);
const left = [];
for (let at = 0; ; at++) {
  let seen = 0;
  let type;
  for await (const event of asking.stream([{ question: "How long does a key last?", hits, trace: [] }])) {
    if (seen++ < at) continue;
    type = event.type;
    break;
  }
  await turn();
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  left.push({ type, timers, leftAtMs: Date.now() });
  // The last reply sends two words and hangs.
  if (left.filter((each) => each.type === "text-delta").length === 2) break;
}
process.stdout.write(JSON.stringify(left));
await transport.close();
