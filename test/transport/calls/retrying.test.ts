import { describe, expect, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import { createTransport } from "../../../src/transport/transport.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "test/embed", input: ["a"] };
const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };

describe("a call is sent again (E5)", () => {
  test.each([408, 409, 429, 500, 502, 503, 504, 529])("after %i", async (status) => {
    const { transport, upstream } = await transportFor([{ status }, vectors(1)]);
    expect((await transport.embeddings(one)).vectors).toHaveLength(1);
    expect(upstream.requests).toHaveLength(2);
  });

  test.each([400, 401, 402, 403, 404, 413, 422, 451])("but not after %i", async (status) => {
    const { transport, upstream } = await transportFor((request) =>
      // A 400 to base64 may mean the encoding: numbers are asked for once, which is another request.
      ({ status, text: JSON.stringify((request.body as { encoding_format?: string }).encoding_format ?? "float") }),
    );
    const error = await failure(transport.embeddings({ ...one, encoding_format: "float" }));
    expect(error).toMatchObject({ status, attempts: 1, retryable: false, operation: "embeddings" });
    expect(upstream.requests).toHaveLength(1);
  });

  test("after a connection that broke before the answer or in the middle of it", async () => {
    const half = JSON.stringify(vectors(1).json).slice(0, 20);
    const { transport, upstream } = await transportFor([
      { destroy: true },
      { chunks: [half, ""], headers: { "content-type": "application/json", "content-length": "999" }, destroy: true },
      vectors(1),
    ]);
    expect((await transport.embeddings(one)).vectors).toHaveLength(1);
    expect(upstream.requests).toHaveLength(3);
  });

  test("no more often than maxRetries, and the error says how often", async () => {
    const { transport, upstream } = await transportFor(
      () => ({ status: 503, json: { code: 50505, message: "busy" } }),
      {
        maxRetries: 2,
      },
    );
    const error = await failure(transport.embeddings(one));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: "upstream", status: 503, serviceCode: "50505", attempts: 3, retryable: true });
    expect(String(error)).toMatch(/after 3 attempts.*busy.*503.*50505/);
    expect(upstream.requests).toHaveLength(3);
  });

  test("after an overload that came with status 200 (E4)", async () => {
    const { transport, upstream } = await transportFor([{ json: { code: 50603, message: "overloaded" } }, vectors(1)]);
    await transport.embeddings(one);
    expect(upstream.requests).toHaveLength(2);
  });

  test("when the service broke off before it said anything (C4)", async () => {
    const { transport, upstream } = await transportFor([
      { sse: [chunk({ role: "assistant" }), chunk({}, { finish_reason: "insufficient_system_resource" }), "[DONE]"] },
      streamed("Hello"),
    ]);
    const texts: string[] = [];
    for await (const event of transport.chatStream(ask)) if (event.type === "text-delta") texts.push(event.text);
    expect(texts).toEqual(["Hello"]);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe("a wait that the service asks for (E6)", () => {
  test("is kept", async () => {
    const { transport, upstream } = await transportFor([{ status: 429, retryAfterSeconds: 1 }, vectors(1)]);
    await transport.embeddings(one);
    expect(upstream.gapsMs[0]).toBeGreaterThanOrEqual(990);
  });

  test("fails now, saying how long, when the deadline is sooner", async () => {
    const { transport, upstream } = await transportFor([{ status: 429, retryAfterSeconds: 3600 }]);
    const startedAt = performance.now();
    const error = await failure(transport.embeddings(one, { deadlineMs: 20_000 }));
    expect(error).toMatchObject({ code: "rate-limited", retryAfterMs: 3_600_000, attempts: 1 });
    expect(String(error)).toContain("3600 s");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(upstream.requests).toHaveLength(1);
  });

  test("is kept by every caller of that model, and by no other", async () => {
    const events: TransportEvent[] = [];
    let limited = true;
    const { transport, upstream } = await transportFor(
      ({ body }) => {
        const { model } = body as { model: string };
        if (model !== "test/embed" || !limited) return vectors(1);
        limited = false;
        return { status: 429, headers: { "retry-after-ms": "400" } };
      },
      { onEvent: (event) => events.push(event), concurrency: 1 },
    );
    const embed = (model: string) => transport.embeddings({ model, input: ["a"] });
    await Promise.all([embed("test/embed"), embed("test/embed"), embed("test/embed"), embed("other/embed")]);
    const at = (model: string) =>
      upstream.requests.filter(({ body }) => (body as { model: string }).model === model).map((request) => request.at);
    const [first, ...rest] = at("test/embed");
    expect(rest).toHaveLength(3);
    for (const later of rest) expect(later - first!).toBeGreaterThanOrEqual(395);
    expect(at("other/embed")[0]! - first!).toBeLessThan(395);
    expect(events.filter(({ type }) => type === "cool-down")).toEqual([
      { type: "cool-down", model: "test/embed", delayMs: 400 },
    ]);
  });
});

describe("a stream", () => {
  test("is never sent again once its first event was handed out", async () => {
    const { transport, upstream } = await transportFor([
      { sse: [chunk({ content: "Hel" })], destroy: true },
      streamed("never"),
    ]);
    const seen: string[] = [];
    const error = await failure(
      (async () => {
        for await (const event of transport.chatStream(ask)) if (event.type === "text-delta") seen.push(event.text);
      })(),
    );
    expect(error).toMatchObject({ code: "truncated", partialText: "Hel", retryable: true, attempts: 1 });
    expect(seen).toEqual(["Hel"]);
    expect(upstream.requests).toHaveLength(1);
  });

  test("is sent again when it failed before that", async () => {
    const { transport, upstream } = await transportFor([
      { sse: [chunk({ role: "assistant" })], destroy: true },
      { sse: [{ error: { code: "ServerOverloaded", message: "busy", type: "x" }, status: 1 }], status: 503 },
      streamed("Hello"),
    ]);
    const texts: string[] = [];
    for await (const event of transport.chatStream(ask)) if (event.type === "text-delta") texts.push(event.text);
    expect(texts).toEqual(["Hello"]);
    expect(upstream.requests).toHaveLength(3);
  });
});

test("an upstream that is not there is named, with what to check", async () => {
  const transport = createTransport({ baseUrl: "http://127.0.0.1:1/llm/v1", maxRetries: 1, backoffMs: 1 });
  const error = await failure(transport.embeddings(one));
  expect(error).toMatchObject({ code: "network", attempts: 2, retryable: true });
  expect(String(error)).toMatch(/cannot reach http:\/\/127\.0\.0\.1:1: connection refused.*Check that the address/);
  await transport.close();
});

test("a 401 says that keys belong to one data center, and which address was asked (E9)", async () => {
  const { transport, upstream } = await transportFor([{ status: 401, json: "Api key is invalid" }]);
  const error = await failure(transport.rerank({ model: "m", query: "q", documents: ["d"] }));
  expect(error).toMatchObject({ code: "unauthorized", status: 401 });
  expect(String(error)).toMatch(/one data center/);
  expect(String(error)).toContain(upstream.baseUrl);
});

test("a model that is not published is named (E2)", async () => {
  const { transport } = await transportFor([
    { status: 400, json: { code: 20012, message: "暂不支持此种模型", data: null } },
  ]);
  const error = await failure(transport.chat(ask));
  expect(error).toMatchObject({ code: "unsupported-model", serviceCode: "20012", attempts: 1 });
  expect(String(error)).toContain("test/chat");
});

test("a redirect is refused: the key would go along", async () => {
  const { transport, upstream } = await transportFor([{ status: 307, headers: { location: "http://127.0.0.1:1/" } }]);
  expect(await failure(transport.chat(ask))).toMatchObject({ code: "refused", status: 307, attempts: 1 });
  expect(upstream.requests).toHaveLength(1);
});
