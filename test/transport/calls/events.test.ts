import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import type { TransportOptions } from "../../../src/transport/options.js";
import type { FailedAttempt } from "../../../src/core/types.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "m", input: ["a"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };

async function watched(script: readonly ScriptedReply[], options: Partial<TransportOptions> = {}) {
  const events: TransportEvent[] = [];
  const { transport, upstream } = await transportFor(script, { ...options, onEvent: (event) => events.push(event) });
  return { transport, events, upstream };
}

describe("the caller hears of failed attempts", () => {
  /** The events of a call's attempts, and its outcome. */
  async function told(script: readonly ScriptedReply[], options: Partial<TransportOptions>, signal?: AbortSignal) {
    const { transport } = await transportFor(script, options);
    const attempts: FailedAttempt[] = [];
    const call = {
      ...(signal && { signal }),
      onFailedAttempt: (attempt: FailedAttempt) => void attempts.push(attempt),
    };
    const ended = await collect(transport.chatStream(ask, call)).then(
      () => "answered",
      (error: unknown) => (error as Error).name,
    );
    return { attempts, ended };
  }

  test("before the one that is answered", async () => {
    expect(await told([{ status: 503 }, { destroy: true }, streamed("a")], {})).toEqual({
      attempts: [{ code: "upstream", status: 503 }, { code: "network" }],
      ended: "answered",
    });
  });

  test("up to the last, and when one breaks off in the middle", async () => {
    expect((await told([{ status: 503 }, { status: 401 }], {})).attempts).toEqual([
      { code: "upstream", status: 503 },
      { code: "unauthorized", status: 401 },
    ]);
    expect((await told([{ sse: [chunk({ content: "a" })], destroy: true }], {})).attempts).toEqual([
      { code: "truncated", status: 200 },
    ]);
  });

  test("once when the call is stopped while it waits to be sent again, and never for a call that was not sent", async () => {
    expect(await told([{ status: 503, retryAfterSeconds: 60 }], {}, AbortSignal.timeout(300))).toEqual({
      attempts: [{ code: "upstream", status: 503 }],
      ended: "TimeoutError",
    });
    expect((await told([{ hang: true }], {}, AbortSignal.timeout(300))).attempts).toEqual([{ code: "aborted" }]);
    expect((await told([], {}, AbortSignal.abort())).attempts).toEqual([]);
  });
});

describe("a call reports", () => {
  test("requests, failures, replies, and their cost in time, bytes and tokens", async () => {
    const answer = { ...vectors(1), headers: { "x-request-id": "r-7" } };
    const { transport, events, upstream } = await watched([{ status: 500, text: "oops" }, answer]);
    await transport.embeddings(one);
    const sizeBytes = JSON.stringify(upstream.requests[0]!.body).length;
    const identity = { operation: "embeddings", model: "m" };
    const number = expect.any(Number) as number;
    expect(events).toEqual([
      { type: "request", ...identity, attempt: 1, sizeBytes, waitedMs: number },
      { type: "retry", ...identity, attempt: 1, delayMs: number, reason: "upstream", status: 500, message: "oops" },
      { type: "request", ...identity, attempt: 2, sizeBytes, waitedMs: number },
      {
        type: "reply",
        ...identity,
        attempt: 2,
        status: 200,
        sizeBytes: JSON.stringify(answer.json).length,
        milliseconds: number,
        requestId: "r-7",
        answeredBy: "test/embed",
        usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 },
      },
    ]);
  });

  test("how long it waited for its slot", async () => {
    const { transport, events } = await watched([{ ...vectors(1), delayMs: 80 }, vectors(1)], { concurrency: 1 });
    await Promise.all([transport.embeddings(one), transport.embeddings(one)]);
    const waits = events.flatMap((event) => (event.type === "request" ? [event.waitedMs] : []));
    expect(waits[0]).toBeLessThan(20);
    expect(waits[1]).toBeGreaterThan(70);
  });

  test("the end of a stream when it is read to its end, with its tokens", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 5 };
    const { transport, events } = await watched([
      { sse: [chunk({ content: "a" }), { ...chunk({}, { finish_reason: "stop" }), usage }, "[DONE]"] },
    ]);
    for await (const { type } of transport.chatStream(ask)) {
      if (type === "text-delta") expect(events.map((event) => event.type)).toEqual(["request"]);
    }
    expect(events.at(-1)).toMatchObject({
      type: "reply",
      operation: "chat",
      answeredBy: "test/chat",
      usage: { inputTokens: 3, outputTokens: 5 },
    });
    expect((events.at(-1) as { readonly sizeBytes: number }).sizeBytes).toBeGreaterThan(200);
  });

  test("that a stream was left", async () => {
    const { transport, events } = await watched([streamed("a", "b")]);
    for await (const _ of transport.chatStream(ask)) break;
    expect(events.at(-1)).toMatchObject({ type: "left", operation: "chat", attempt: 1 });
  });

  test("the error that ended it", async () => {
    const { transport, events } = await watched([{ status: 401, json: "no" }]);
    await failure(transport.embeddings({ ...one, encoding_format: "float" }));
    expect(events.at(-1)).toMatchObject({ type: "failure", code: "unauthorized", status: 401, attempt: 1 });
  });

  test("that its caller ended it", async () => {
    const { transport, events } = await watched([{ hang: true }]);
    await failure(transport.embeddings(one, { signal: AbortSignal.timeout(40) }));
    expect(events.at(-1)).toMatchObject({ type: "failure", code: "aborted", attempt: 1 });
  });

  test("exactly one end, also where base64 was refused first", async () => {
    const { transport, events } = await watched([{ status: 400, json: { code: 20015, message: "no" } }, vectors(1)]);
    await transport.embeddings(one);
    expect(events.map(({ type }) => type)).toEqual(["request", "request", "reply"]);
  });
});

describe("totals()", () => {
  test("adds up calls, bytes, tokens and cost by model", async () => {
    const usage = { prompt_tokens: 2000, completion_tokens: 500 };
    const said = { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }], usage };
    const { transport, upstream } = await transportFor(
      [{ json: said }, { status: 503 }, { json: said }, { status: 401 }, vectors(1)],
      { prices: { m: { input: 2, output: 8 } } },
    );
    await transport.chat(ask);
    await transport.chat(ask);
    await failure(transport.chat(ask));
    await transport.embeddings({ model: "other", input: ["a"] });
    expect(transport.totals()).toEqual({
      m: {
        calls: 3,
        failures: 1,
        requests: 4,
        sentBytes: 4 * JSON.stringify(upstream.requests[0]!.body).length,
        receivedBytes: 2 * JSON.stringify(said).length,
        inputTokens: 4000,
        cachedTokens: 0,
        outputTokens: 1000,
        uncounted: 0,
        cost: 0.016,
      },
      other: expect.objectContaining({ calls: 1, inputTokens: 1, cost: undefined }) as object,
    });
  });

  test("does not give a cost where calls came without a count", async () => {
    const counted = { prompt_tokens: 1000, completion_tokens: 0 };
    const said = { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] };
    const { transport } = await transportFor([{ json: { ...said, usage: counted } }, { json: said }], {
      prices: { m: { input: 2 } },
    });
    await transport.chat(ask);
    expect(transport.totals()["m"]).toMatchObject({ inputTokens: 1000, uncounted: 0, cost: 0.002 });
    await transport.chat(ask);
    expect(transport.totals()["m"]).toMatchObject({ inputTokens: 1000, uncounted: 1, cost: undefined });
  });

  test("counts the tokens of streams that were read to their end", async () => {
    const { transport } = await transportFor([
      { sse: [{ ...chunk({ content: "a" }, { finish_reason: "stop" }), usage: { prompt_tokens: 7 } }, "[DONE]"] },
      streamed("left"),
    ]);
    await collect(transport.chatStream(ask));
    for await (const _ of transport.chatStream(ask)) break;
    expect(transport.totals()["m"]).toMatchObject({ calls: 2, failures: 0, inputTokens: 7 });
  });
});
