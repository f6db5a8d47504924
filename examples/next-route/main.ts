// Does what Next.js does with route.ts: gives it requests.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";

const path = await mkdtemp(join(tmpdir(), "citewell-"));
const writer = await openKnowledgeBase({ path });
await writer.ingest([{ uri: "keys", text: "API keys expire after 90 days. Ada renews them." }]);
await writer.close();

process.env["CITEWELL_STORE"] = path;
const { GET, POST } = await import("./route.js");
const headers = { "x-user": "ada", "content-type": "application/json" };
const stranger = await GET(new Request("http://localhost/api/status"));
console.log(`without a user: ${stranger.status}`);

const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "When do API keys expire?" }] }];
const body = JSON.stringify({ id: "chat-1", messages });
const reply = await POST(new Request("http://localhost/api/chat", { method: "POST", headers, body }));
for (const line of (await reply.text()).split("\n")) {
  if (line.includes('"text-delta"') || line.includes('"data-citation"')) console.log(line);
}
process.exit();
