// A tool that the model may call while it answers. Its input is checked by the schema before it runs.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase, tool } from "citewell";
import { z } from "zod";

const orderStatus = tool({
  name: "order_status",
  description: "Looks up the delivery status of an order by its number.",
  input: z.object({ orderNumber: z.string().describe("The order number, such as A-1042") }),
  run: ({ orderNumber }) => `Order ${orderNumber} was shipped on Tuesday and arrives on Friday.`,
});

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")) });
await kb.ingest([
  { uri: "faq:delivery", title: "Delivery", text: "Parcels usually arrive within three days of shipping." },
]);

for await (const event of kb.ask("Call order_status: what is the status of order A-1042?", {
  answer: { tools: [orderStatus] },
})) {
  if (event.type === "tool-call") console.log(`calls ${event.name} with ${JSON.stringify(event.input)}`);
  if (event.type === "tool-result") console.log(`gets  ${String(event.output)}`);
  if (event.type === "text-delta") process.stdout.write(event.text);
  if (event.type === "error") throw event.error;
}
console.log();
await kb.close();
