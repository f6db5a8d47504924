import { join } from "node:path";
import { expect, test } from "vitest";
import type { NewKey } from "../../../src/server/callers/key.js";
import { keyFile } from "../../../src/server/callers/key-file.js";
import { makeKey } from "../../../src/server/callers/manage-keys.js";
import { CallerLimiter } from "../../../src/server/guard/caller-limiter.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
const asked = { question: "When do API keys expire?" };

async function withKeys(eventDelayMs = 0) {
  const book = keyFile(join(await temporaryFolder(), "keys.json"));
  const server = await served(documents, { keys: book, limits: { requestsPerMinute: 100 } }, { eventDelayMs });
  return async (options: NewKey) => server.as({ authorization: `Bearer ${(await makeKey(book, options)).key}` });
}

function rateHeaders({ headers }: Response) {
  return Object.fromEntries([...headers].filter(([name]) => /^x-ratelimit|^retry-after/.test(name)));
}

test("replies say what is left of a caller's requests, and a key's own limit counts in place of the server's", async () => {
  const withKey = await withKeys();
  const [plain, slow] = [
    await withKey({ name: "plain" }),
    await withKey({ name: "slow", limits: { requestsPerMinute: 2 } }),
  ];
  expect(rateHeaders(await plain.send("GET", "/api/status"))).toEqual({
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "99",
    "x-ratelimit-reset-requests": "1s",
  });
  expect(rateHeaders(await slow.send("GET", "/v1/models"))).toMatchObject({ "x-ratelimit-remaining-requests": "1" });
  expect((await slow.send("GET", "/api/status")).status).toBe(200);
  const refused = await slow.send("GET", "/v1/models");
  expect(refused.status).toBe(429);
  expect(rateHeaders(refused)).toEqual({
    "retry-after": "30",
    "x-ratelimit-limit-requests": "2",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s",
  });
  expect((await plain.send("GET", "/api/status")).status).toBe(200);
});

test("an answer's tokens are taken from its caller's minute, and the next one waits until they are made up for", async () => {
  const withKey = await withKeys();
  const little = await withKey({ name: "little", limits: { tokensPerMinute: 50 } });
  const first = await little.send("POST", "/v1/chat/completions", {
    model: "citewell",
    messages: [{ role: "user", content: asked.question }],
  });
  const { usage } = (await first.json()) as { readonly usage: { readonly total_tokens: number } };
  expect(usage.total_tokens).toBeGreaterThan(50);
  for (const path of ["/api/ask", "/api/conversations"]) {
    const refused = await little.send("POST", path, asked);
    expect(refused.status).toBe(429);
    const seconds = Math.ceil(((usage.total_tokens - 50 + 1) / 50) * 60);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(seconds - 10);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(seconds);
    expect(refused.headers.get("x-ratelimit-remaining-tokens")).toBe("0");
  }
  // Searching takes no tokens.
  expect((await little.send("POST", "/api/search", asked)).status).toBe(200);
});

test("an answer that is left early is charged, too", async () => {
  const withKey = await withKeys(50);
  const leaving = await withKey({ name: "leaving", limits: { tokensPerMinute: 5 } });
  const reply = await leaving.send("POST", "/api/ask", asked);
  const reader = reply.body!.getReader();
  let text = "";
  while (!text.includes("event: text-delta")) text += Buffer.from((await reader.read()).value ?? "").toString();
  await reader.cancel();
  await expect.poll(async () => (await leaving.send("POST", "/api/ask", asked)).status, { timeout: 5000 }).toBe(429);
});

test("a caller makes only as many answers at once as its key allows, and others make theirs", async () => {
  const withKey = await withKeys(100);
  const [one, other] = [await withKey({ name: "one", limits: { answersAtOnce: 1 } }), await withKey({ name: "other" })];
  const begun = await one.send("POST", "/api/conversations", asked);
  const refused = await one.json("POST", "/api/ask", asked, 429);
  expect(refused.error.message).toBe("No more than 1 of your answers are made at once: try again in 1 s");
  const elsewhere = await other.send("POST", "/api/ask", asked);
  expect(elsewhere.status).toBe(200);
  await begun.text();
  await elsewhere.text();
  await expect
    .poll(async () => {
      const again = await one.send("POST", "/api/ask", asked);
      await again.text();
      return again.status;
    })
    .toBe(200);
});

test("buckets fill evenly, however they are used", () => {
  let nowMs = 0;
  const limiter = new CallerLimiter(() => nowMs);
  const ada = { name: "ada", limits: { requestsPerMinute: 7, tokensPerMinute: 70 } };
  // The slow way: every admission is kept, and what has flowed in since is added drop by drop.
  let left = 7;
  for (let at = 0; at < 500; at++) {
    const stepMs = (at * 7919) % 15_000;
    nowMs += stepMs;
    for (let ms = 0; ms < stepMs; ms++) left = Math.min(7, left + 7 / 60_000);
    let admitted = true;
    try {
      limiter.admitRequest(ada);
    } catch {
      admitted = false;
    }
    // Where the sum of drops is a hair from a whole request, both answers are right.
    if (Math.abs(left - 1) > 1e-6) expect(admitted).toBe(left >= 1);
    if (admitted) left -= 1;
  }
  limiter.spend(ada, 140);
  expect(() => limiter.admitAnswer(ada)).toThrow("More than 70 tokens in a minute: try again in 61 s");
  nowMs += 61_000;
  limiter.admitAnswer(ada)();
});
