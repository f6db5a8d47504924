import { afterAll, expect, test } from "vitest";
import { TransportError } from "../../src/core/errors.js";
import { collect } from "../../src/core/stream.js";
import { inProcessDispatcher } from "../../src/local/in-process.js";
import { startLocalService } from "../../src/local/service.js";
import { createTransport, type Transport } from "../../src/transport/transport.js";

const service = await startLocalService();
const options = { maxRetries: 0, backoffMs: 0 };
const overHttp = createTransport({ ...options, baseUrl: service.url, apiKey: service.apiKey });
const here = createTransport({ ...options, baseUrl: "http://here.localhost", dispatcher: inProcessDispatcher() });

afterAll(async () => {
  await Promise.all([overHttp.close(), here.close()]);
  await service.close();
});

const documents = ["Keys expire after 90 days.", "Bees live in hives.", "A key can be renewed."];
const messages = [{ role: "user" as const, content: `${documents.join("\n")}\n\nWhen do keys expire?` }];
const chat = { model: "citewell/local-extractive", messages };

const ranking = (transport: Transport) =>
  transport.rerank({ model: "citewell/local-lexical-rerank", query: "key renewed", documents });

const calls: Readonly<Record<string, (transport: Transport) => Promise<unknown>>> = {
  embeddings: (transport) => transport.embeddings({ model: "citewell/local-lexical-m3", input: documents }),
  "embeddings as numbers": (transport) =>
    transport.embeddings({ model: "citewell/local-lexical", input: "keys", encoding_format: "float" }),
  "a ranking": ranking,
  "a whole answer": (transport) => transport.chat(chat),
  "a streamed answer": (transport) => collect(transport.chatStream(chat)),
  "a text that is too long": (transport) =>
    transport.embeddings({ model: "citewell/local-lexical", input: "key ".repeat(600) }),
  "a model that is not there": (transport) => transport.embeddings({ model: "no/model", input: "keys" }),
};

/** Without what differs from call to call, and the address. */
function comparable(result: unknown): unknown {
  const text = JSON.stringify(result, (key, value: unknown) =>
    value instanceof Float32Array
      ? [...value]
      : ["id", "requestId", "created", "createdAt", "durationMs", "raw"].includes(key)
        ? undefined
        : value,
  );
  return JSON.parse(text) as unknown;
}

async function outcome(call: (transport: Transport) => Promise<unknown>, transport: Transport): Promise<unknown> {
  try {
    return comparable(await call(transport));
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return { code: error.code, status: error.status, retryable: error.retryable };
  }
}

test.each(Object.entries(calls))("%s is the same in this process as over HTTP", async (_, call) => {
  expect(await outcome(call, here)).toEqual(await outcome(call, overHttp));
});

test("what only a whole service has is refused in this process by name", async () => {
  await expect(here.videoTask("cgt-1")).rejects.toThrow("no GET");
});

test("a stream that is left in this process is computed no further, and the next call is answered", async () => {
  for await (const event of here.chatStream(chat)) {
    expect(event).toBeDefined();
    break;
  }
  expect(await outcome(ranking, here)).toEqual(await outcome(ranking, overHttp));
});

test("a call whose signal ends while this process works on it ends with its reason", async () => {
  const stop = new AbortController();
  // Each word is another one, so that nothing of the work was remembered from an earlier test.
  const words = Array.from({ length: 1000 }, (_, at) => `x${at}`);
  const input = Array.from({ length: 32 }, (_, at) => words.map((word) => `key${at}${word}`).join(" "));
  const call = here.embeddings({ model: "citewell/local-lexical-m3", input }, { signal: stop.signal });
  setImmediate(() => stop.abort(new Error("enough")));
  await expect(call).rejects.toThrow("enough");
});
