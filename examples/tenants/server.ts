// An API for several tenants on one port: the token says which documents a caller sees, and uploads are its
// own. A tool waits for a yes or no before it changes anything. Ctrl-C ends it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase, tool } from "citewell";
import { createServer } from "citewell/server";
import { z } from "zod";

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const kb = await openKnowledgeBase({
  path: join(folder, "store"),
  metadata: z.object({ tenant: z.string() }),
  requireScope: true,
});
await kb.ingest([
  { uri: "north:keys", text: "API keys expire after 90 days. Ada renews them.", metadata: { tenant: "north" } },
  { uri: "south:keys", text: "API keys expire after 30 days. Bob renews them.", metadata: { tenant: "south" } },
]);

const openTicket = tool({
  name: "open_ticket",
  description: "Opens a ticket for the people who run the service.",
  input: z.object({ subject: z.string() }),
  writes: true,
  run: ({ subject }) => `Ticket 17 was opened: ${subject}`,
});
const tenants = new Map(Object.entries({ "token-of-north": "north", "token-of-south": "south" }));

const server = await createServer(kb, {
  title: "Handbooks",
  port: Number(process.env["PORT"] ?? 0),
  access: ({ headers }) => {
    const tenant = tenants.get(headers.get("authorization")?.replace("Bearer ", "") ?? "");
    if (tenant === undefined) return undefined; // 401
    return { owner: tenant, filter: { metadata: { tenant } }, metadata: { tenant }, role: "manage" };
  },
  uploads: { folder: join(folder, "uploads") },
  ask: { answer: { tools: [openTicket], approve: "later" } },
});
console.log(server.url);

const close = () => void server.close().then(() => kb.close());
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close);
