// Two keys see two collections of one store; each says what is left of its minute. Run: node build/examples/sign-in/main.js
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { createServer, keyFile, makeKey, revokeKey } from "citewell/server";

const folder = await mkdtemp(join(tmpdir(), "citewell-sign-in-"));
const kb = await openKnowledgeBase({ path: join(folder, "store") });
await kb.ingest([
  { uri: "north", text: "The north opens at nine.", metadata: { tenant: "north" } },
  { uri: "south", text: "The south opens at ten.", metadata: { tenant: "south" } },
]);

const keys = keyFile(join(folder, "keys.json"));
const north = await makeKey(keys, { name: "North", filter: { metadata: { tenant: "north" } } });
const south = await makeKey(keys, {
  name: "South",
  filter: { metadata: { tenant: "south" } },
  limits: { requestsPerMinute: 2 },
});

const server = await createServer(kb, { keys, audit: { to: ({ event, caller }) => console.log(event, caller) } });

async function search(key: string): Promise<void> {
  const reply = await fetch(`${server.url}/api/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ question: "When does it open?" }),
  });
  const { passages } = (await reply.json()) as { readonly passages?: readonly { readonly text: string }[] };
  console.log(
    reply.status,
    passages?.map(({ text }) => text),
    reply.headers.get("x-ratelimit-remaining-requests"),
  );
}

await search(north.key);
for (let times = 0; times < 3; times++) await search(south.key);
await revokeKey(keys, north.info.id);
await new Promise((resolve) => setTimeout(resolve, 1100));
await search(north.key);
await server.close();
await kb.close();
