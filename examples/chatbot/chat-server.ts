// A chat server for several tenants: each sees only its own documents and conversations. Answers stream as server-sent
// events, end when their reader leaves, and wait for a yes or no before a tool changes anything. Ctrl-C ends it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { type AnswerEvent, createTransport, openKnowledgeBase, type ScopedKnowledgeBase, tool } from "citewell";
import { startLocalService } from "citewell/local";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { streamSSE } from "hono/streaming";
import { z } from "zod";

const service = await startLocalService({ eventDelayMs: 100 }); // stands in for yours, slow enough to be stopped
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const kb = await openKnowledgeBase({
  path: await mkdtemp(join(tmpdir(), "citewell-")),
  transport,
  models: { embedding: "citewell/local-lexical-m3", chat: "citewell/local-extractive" },
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
const answer = { tools: [openTicket], approve: "later" } as const;
const tenantOf = new Map(Object.entries({ "token-of-north": "north", "token-of-south": "south" }));

const app = new Hono<{ Variables: { documents: ScopedKnowledgeBase } }>();
app.use(async (c, next) => {
  const tenant = tenantOf.get(c.req.header("authorization")?.replace("Bearer ", "") ?? "");
  if (tenant === undefined) throw new HTTPException(401, { message: "Send one of the tokens" });
  c.set("documents", kb.scoped({ metadata: { tenant } }));
  await next();
});
app.onError((error, c) => c.json({ error: error.message }, error instanceof HTTPException ? error.status : 400));

app.get("/conversations", async (c) => c.json(await c.var.documents.conversations()));
app.get("/conversations/:id", async (c) => c.json(await c.var.documents.conversation(c.req.param()).exchanges()));
app.post("/conversations/:id", async (c) => {
  const { question } = z.object({ question: z.string() }).parse(await c.req.json());
  return stream(c, c.var.documents.conversation(c.req.param()).ask(question, { answer, signal: c.req.raw.signal }));
});
app.post("/conversations/:id/approvals", async (c) => {
  const approvals = z.record(z.string(), z.boolean()).parse(await c.req.json());
  const talk = c.var.documents.conversation(c.req.param());
  if (!(await talk.info())) throw new HTTPException(404, { message: "There is no such conversation" });
  return stream(c, talk.resume(approvals, { answer, signal: c.req.raw.signal }));
});

/** Sends what a chat page shows: text with numbers, the citations behind them, calls that wait, and the end. */
function stream(c: Context, events: AsyncIterable<AnswerEvent>) {
  const shown = new Set(["text-delta", "citation", "approval-needed", "tool-result"]);
  return streamSSE(c, async (sse) => {
    for await (const event of events) {
      let data: object = event;
      if (event.type === "error") data = { message: event.error.message };
      else if (event.type === "finish")
        data = { answered: event.answer.answered, waits: event.answer.waiting !== undefined };
      else if (!shown.has(event.type)) continue;
      await sse.writeSSE({ event: event.type, data: JSON.stringify(data) });
    }
  });
}

const port = Number(process.env["PORT"] ?? 0);
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (at) =>
  console.log(`http://127.0.0.1:${at.port}`),
);
const close = () => server.close(() => void kb.close().then(transport.close).then(service.close));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close);
