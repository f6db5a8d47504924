import { expect, test } from "vitest";
import { createHandler } from "../../../src/server/create-handler.js";
import { served } from "../../support/served.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };
const token = "a-token-of-ours";
const reader = "only-for-figures";

/** The samples of an exposition: each name with its labels, and its value. */
async function samplesOf(reply: Response): Promise<Map<string, number>> {
  expect(reply.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  const lines = (await reply.text()).split("\n");
  expect(lines.filter((line) => line !== "").at(-1)).toBe("# EOF");
  const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

test("figures count requests, answers, tokens, errors and documents, and name no question", async () => {
  const { send, events } = await served([keys], { metrics: true });
  await events("/api/ask", { question: "When do API keys expire?" });
  await events("/api/ask", { question: "Who built the lighthouse?" });
  await send("GET", "/api/passages?uri=secret-name");
  await send("GET", "/secret-path");
  const samples = await samplesOf(await send("GET", "/metrics"));
  const at = (name: string) => samples.get(name);
  expect(at('citewell_answers_total{outcome="answered"}')).toBe(1);
  expect(at('citewell_answers_total{outcome="declined"}')).toBe(1);
  expect(at("citewell_answers_in_progress")).toBe(0);
  expect(at("citewell_answer_first_event_seconds_count")).toBe(2);
  expect(at('citewell_http_requests_total{method="POST",route="/api/ask",status="200"}')).toBe(2);
  expect(at('citewell_http_requests_total{method="GET",route="/api/passages",status="404"}')).toBe(1);
  expect(at('citewell_errors_total{code="not-found"}')).toBe(1);
  expect(at('citewell_errors_total{code="no-path"}')).toBe(1);
  expect(at("citewell_store_documents")).toBe(1);
  expect(at("citewell_store_chunks")).toBe(1);
  expect(at('citewell_chat_tokens_total{model="citewell/local-extractive",direction="output"}')).toBeGreaterThan(10);
  expect([...samples.keys()].join("\n")).not.toMatch(/secret|lighthouse|expire/);
});

test("figures have the cost of answers, where the models have prices", async () => {
  const models = { embedding: "citewell/local-lexical-m3", chat: "citewell/local-extractive" };
  const prices = Object.fromEntries(Object.values(models).map((id) => [id, { input: 1, output: 2 }]));
  const { send, events } = await served([keys], { metrics: true }, { models, prices });
  await events("/api/ask", { question: "When do API keys expire?" });
  const samples = await samplesOf(await send("GET", "/metrics"));
  const tokens = (direction: string) =>
    samples.get(`citewell_chat_tokens_total{model="${models.chat}",direction="${direction}"}`)!;
  const chat = (tokens("input") + 2 * tokens("output")) / 1_000_000;
  // The question was embedded, too.
  expect(samples.get("citewell_answer_cost_total")).toBeGreaterThan(chat);
  expect(samples.get("citewell_answer_cost_total")).toBeLessThan(chat + 20 / 1_000_000);
});

test("figures are read with the server's token, or with one of their own", async () => {
  const status = async (options: Parameters<typeof served>[1], sent: string | undefined) => {
    const { send } = await served([keys], options);
    const headers: Record<string, string> = sent === undefined ? {} : { authorization: `Bearer ${sent}` };
    return (await send("GET", "/metrics", undefined, headers)).status;
  };
  expect(await status({ token }, token)).toBe(404);
  expect(await status({ token, metrics: true }, undefined)).toBe(401);
  expect(await status({ token, metrics: true }, token)).toBe(200);
  expect(await status({ token, metrics: { token: reader } }, reader)).toBe(200);
  expect(await status({ token, metrics: { token: reader } }, token)).toBe(401);
});

test("with access, figures of all callers need a token of their own", async () => {
  const { kb } = await served([keys]);
  expect(() => createHandler(kb, { access: () => ({}), metrics: true })).toThrow(/token of their own/);
  const handler = createHandler(kb, { access: () => undefined, metrics: { token: reader } });
  const ask = async (headers: Record<string, string>) =>
    (await handler.fetch(new Request("http://localhost/metrics", { headers }))).status;
  expect(await ask({})).toBe(401);
  expect(await ask({ authorization: `Bearer ${reader}` })).toBe(200);
  await handler.close();
});

test("figures have the bytes of the store, which are measured once a minute", async () => {
  let measured = 0;
  const { kb } = await served([keys]);
  const sizes = async () => {
    measured++;
    return kb.store.sizes!();
  };
  const store = new Proxy(kb.store, { get: (real, name) => (name === "sizes" ? sizes : bound(real, name)) });
  const handler = createHandler({ ...kb, store }, { metrics: true });
  const scrape = async () => samplesOf(await handler.fetch(new Request("http://localhost/metrics")));
  const samples = await scrape();
  const expected = await kb.store.sizes!();
  expect(expected.databaseBytes).toBeGreaterThan(0);
  expect(samples.get('citewell_store_bytes{part="database"}')).toBe(expected.databaseBytes);
  for (const part of ["indexes", "conversations", "other_generations"]) {
    expect([part, samples.has(`citewell_store_bytes{part="${part}"}`)]).toEqual([part, true]);
  }
  await Promise.all(Array.from({ length: 20 }, scrape));
  expect(measured).toBe(1);
  await handler.close();
});

/** A method of a class works on the object that has its private fields. */
function bound(real: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(real, name, real);
  return typeof value === "function" ? value.bind(real) : value;
}

test("figures of a store that cannot be measured have no bytes, and all others", async () => {
  const { kb } = await served([keys]);
  const sizes = () => Promise.reject(new Error("The folder is gone"));
  const store = new Proxy(kb.store, { get: (real, name) => (name === "sizes" ? sizes : bound(real, name)) });
  const handler = createHandler({ ...kb, store }, { metrics: true });
  const samples = await samplesOf(await handler.fetch(new Request("http://localhost/metrics")));
  expect([...samples.keys()].filter((name) => name.startsWith("citewell_store_bytes"))).toEqual([]);
  expect(samples.get("citewell_store_documents")).toBe(1);
  await handler.close();
});
