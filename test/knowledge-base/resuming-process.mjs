// Run by approvals.test.ts: resumes a conversation in a process of its own, and prints the events. Each mail is a line in
// `sent`; with `killed`, the process ends as soon as the line is written.
import { appendFileSync } from "node:fs";
import { openKnowledgeBase } from "../../dist/knowledge-base/open.js";
import { tool } from "../../dist/core/tool.js";
import { createTransport } from "../../dist/transport/transport.js";
import { z } from "zod";

const { path, baseUrl, sent, approvals, killed } = JSON.parse(process.argv[2]);
const transport = createTransport({ baseUrl, apiKey: "key", maxRetries: 0 });
const models = { embedding: "test/embed-m3", chat: "test/chat" };
const kb = await openKnowledgeBase({ path, transport, models });
const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail",
  input: z.object({ to: z.string() }),
  writes: true,
  run: ({ to }) => {
    appendFileSync(sent, `${to}\n`);
    if (killed) process.kill(process.pid, "SIGKILL");
    return `sent to ${to}`;
  },
});
const answer = { tools: [sendMail], approve: "later" };
for await (const event of kb.conversation({ id: "talk" }).resume(approvals, { answer })) {
  const error = event.type === "error" && {
    name: event.error.name,
    code: event.error.code,
    message: event.error.message,
  };
  process.stdout.write(`${JSON.stringify({ ...event, ...(error && { error }) })}\n`);
}
await kb.close();
await transport.close();
