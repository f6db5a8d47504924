// Run by conversation-crash.test.ts, to be killed: goes on with a conversation, and prints each turn that it saw finished.
import { openKnowledgeBase } from "../../dist/knowledge-base/open.js";
import { tool } from "../../dist/core/tool.js";
import { createTransport } from "../../dist/transport/transport.js";
import { z } from "zod";

const { path, baseUrl, turns } = JSON.parse(process.argv[2]);
const transport = createTransport({ baseUrl, apiKey: "key", maxRetries: 0 });
const models = { embedding: "test/embed-m3", chat: "test/chat" };
const kb = await openKnowledgeBase({ path, transport, models });
const lookUp = tool({
  name: "look_up",
  description: "Looks a word up",
  input: z.object({ word: z.string() }),
  run: ({ word }) => `meaning of ${word}`,
});
const talk = kb.conversation({ id: "talk" });
for (let turn = (await talk.exchanges()).length; turn < turns; turn++) {
  for await (const event of talk.ask(`What is word${turn}?`, { condense: false, answer: { tools: [lookUp] } })) {
    if (event.type === "error") throw event.error;
    if (event.type === "finish") process.stdout.write(`${JSON.stringify({ turn, text: event.answer.turn.text })}\n`);
  }
}
await kb.close();
await transport.close();
