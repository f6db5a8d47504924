import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "undici";
import { request } from "undici";

/** A server, and what its client needs. */
export interface Target {
  readonly url: string;
  readonly key: string;
  readonly agent: Agent;
}

/** Something that a client does. Throws when the server does anything else than it should. */
type Deed = (target: Target, number: number) => Promise<void>;

interface Sending {
  readonly body?: unknown;
  /** Bytes, in place of `body`. */
  readonly bytes?: string;
  readonly key?: string;
  /** Statuses that are right. Default: 200. */
  readonly statuses?: readonly number[];
}

const question = "How long do the keys of the store last?";
const openAiRequest = { model: "citewell", messages: [{ role: "user", content: question }] };
const openAiResponse = { model: "citewell", input: question, store: false };

async function send(target: Target, method: string, path: string, sending: Sending = {}): Promise<string> {
  const { body, bytes, key = target.key, statuses = [200] } = sending;
  const reply = await request(target.url + path, {
    method: method as "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    dispatcher: target.agent,
    ...(bytes !== undefined && { body: bytes }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  if (!statuses.includes(reply.statusCode)) {
    throw new Error(`${method} ${path}: ${reply.statusCode} ${text.slice(0, 300)}`);
  }
  return text;
}

function requireText(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`${part} is missing at the end of ${text.slice(-300)}`);
}

/** Asks, and leaves in the middle of the answer. */
const leave: Deed = async (target) => {
  const leaving = new AbortController();
  const { body } = await request(`${target.url}/api/ask`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.key}` },
    body: JSON.stringify({ question }),
    dispatcher: target.agent,
    signal: leaving.signal,
  });
  try {
    for await (const part of body.setEncoding("utf8") as AsyncIterable<string>) {
      if (part.includes("text-delta")) leaving.abort();
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
};

/** Begins a conversation, goes on with it, reads it and deletes it. */
const converse: Deed = async (target) => {
  const begun = await send(target, "POST", "/api/conversations", { body: { question } });
  requireText(begun, "event: finish");
  const id = /"type":"conversation","id":"([^"]+)"/.exec(begun)?.[1];
  const path = `/api/conversations/${id}`;
  const body = { question: "And number 7?" };
  requireText(await send(target, "POST", `${path}/questions`, { body }), "event: finish");
  requireText(await send(target, "GET", path), "And number 7?");
  requireText(await send(target, "GET", "/api/conversations"), String(id));
  await send(target, "DELETE", path, { statuses: [204] });
};

/** Uploads a file, waits until it is read, and deletes it. */
const upload: Deed = async (target, number) => {
  const path = `/api/uploads/note-${number}.md`;
  const bytes = `# Note ${number}\n\n${`The note number ${number} says that keys are red. `.repeat(40)}`;
  await send(target, "PUT", path, { bytes, statuses: [202] });
  for (let wait = 0; ; wait++) {
    const { uploads } = JSON.parse(await send(target, "GET", "/api/uploads")) as {
      readonly uploads: readonly { readonly name: string; readonly state: string }[];
    };
    const state = uploads.find(({ name }) => name === `note-${number}.md`)?.state;
    if (state === "done") break;
    if (state === "failed" || wait > 300) throw new Error(`an upload is ${state}`);
    await sleep(100);
  }
  await send(target, "DELETE", path, { statuses: [204] });
};

/** Each as often as it stands here. */
export const deeds: readonly (readonly [name: string, deed: Deed])[] = [
  ...Array.from({ length: 6 }, (): [string, Deed] => [
    "ask",
    async (target) => requireText(await send(target, "POST", "/api/ask", { body: { question } }), "event: finish"),
  ]),
  ...Array.from({ length: 4 }, (): [string, Deed] => [
    "search",
    async (target, number) => {
      const body = { question: `store number ${number % 500}`, limit: 5 };
      requireText(await send(target, "POST", "/api/search", { body }), `"passages":[{`);
    },
  ]),
  ["leave", leave],
  ["leave", leave],
  ["converse", converse],
  ["converse", converse],
  ["upload", upload],
  ["completion", async (target) => void (await send(target, "POST", "/v1/chat/completions", { body: openAiRequest }))],
  [
    "streamed completion",
    async (target) => {
      const body = { ...openAiRequest, stream: true };
      requireText(await send(target, "POST", "/v1/chat/completions", { body }), "[DONE]");
    },
  ],
  ["response", async (target) => void (await send(target, "POST", "/v1/responses", { body: openAiResponse }))],
  ["documents", async (target) => void (await send(target, "GET", "/api/documents?limit=50"))],
  ["passage", async (target) => void (await send(target, "GET", "/api/passages?uri=made%3A7&start=0&end=20"))],
  ["page", async (target) => void (await send(target, "GET", "/"))],
  ["figures", async (target) => void (await send(target, "GET", "/metrics", { key: "figures-token" }))],
  ["description", async (target) => void (await send(target, "GET", "/api/openapi.json"))],
  [
    "wrong key",
    async (target) => void (await send(target, "GET", "/api/status", { key: `${target.key}x`, statuses: [401, 429] })),
  ],
  [
    "wrong question",
    async (target) => void (await send(target, "POST", "/api/ask", { body: { questoin: "a" }, statuses: [400] })),
  ],
  ["wrong path", async (target) => void (await send(target, "GET", "/api/nothing", { statuses: [404] }))],
];
