// In test:all alone: it lets time limits pass, for 9 s.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "m", input: ["a"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
const comment = ": keep-alive\n\n";
const hello = `data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\n`;

describe("a deadline", () => {
  test("ends a call that is not answered", async () => {
    const { transport, upstream } = await transportFor([{ hang: true }]);
    const error = await failure(transport.embeddings(one, { deadlineMs: 1500 }));
    expect(error).toMatchObject({ code: "timeout", attempts: 1, operation: "embeddings" });
    expect(String(error)).toContain("1500 ms");
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("holds for all attempts together, and the error says what went wrong before", async () => {
    const { transport } = await transportFor([{ status: 503, text: "busy" }, { hang: true }]);
    const error = await failure(transport.embeddings(one, { deadlineMs: 2500 }));
    expect(error).toMatchObject({ code: "timeout", attempts: 2, cause: expect.objectContaining({ status: 503 }) });
    expect(String(error)).toContain("busy");
  });

  test("does not begin anew with an attempt", async () => {
    const { transport } = await transportFor(() => ({ status: 500, delayMs: 100 }), { maxRetries: 100 });
    const startedAt = performance.now();
    const error = await failure(transport.embeddings(one, { deadlineMs: 700 }));
    // A hundred attempts would take 10 s; when time runs out in the wait for the next, the failure before it is told.
    expect(["timeout", "upstream"]).toContain((error as { readonly code: string }).code);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect((error as { readonly attempts: number }).attempts).toBeLessThan(10);
  });

  test("holds for a stream while it is read", async () => {
    const { transport } = await transportFor([{ chunks: [hello], hang: true }]);
    const error = await failure(collect(transport.chatStream(ask, { deadlineMs: 80 })));
    expect(error).toMatchObject({ code: "timeout" });
  });

  test("that has passed already sends nothing", async () => {
    const { transport, upstream } = await transportFor([]);
    expect(await failure(transport.embeddings(one, { deadlineMs: 0 }))).toMatchObject({ code: "timeout", attempts: 0 });
    expect(upstream.requests).toHaveLength(0);
  });

  test("that is longer than a timer can count does not pass at once", async () => {
    const { transport } = await transportFor([{ ...vectors(1), delayMs: 20 }]);
    expect((await transport.embeddings(one, { deadlineMs: 2 ** 40 })).vectors).toHaveLength(1);
  });
});

test("an attempt that takes too long is made again", async () => {
  const { transport, upstream } = await transportFor([{ hang: true }, vectors(1)], { readTimeoutMs: 500 });
  await transport.embeddings(one);
  expect(upstream.requests).toHaveLength(2);
  expect(await upstream.requests[0]!.end).toBe("closed");
});

describe("a stream has two idle limits (§4)", () => {
  test("silence ends it, and the error holds the text so far", async () => {
    const { transport, upstream } = await transportFor([{ chunks: [hello], hang: true }], { streamIdleMs: 400 });
    const error = await failure(collect(transport.chatStream(ask)));
    expect(error).toMatchObject({ code: "timeout", partialText: "Hel", retryable: true });
    expect(String(error)).toContain("silent");
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("keep-alive comments end the silence, but not for ever", async () => {
    const chunks = [hello, ...Array.from({ length: 200 }, () => comment)];
    const { transport } = await transportFor([{ chunks, gapMs: 10 }], { streamIdleMs: 5000, streamPayloadIdleMs: 150 });
    const error = await failure(collect(transport.chatStream(ask)));
    expect(error).toMatchObject({ code: "timeout", partialText: "Hel" });
    expect(String(error)).toContain("keep-alive");
  });

  test("the time without a payload starts again after each payload", async () => {
    const stretch = [hello, ...Array.from({ length: 5 }, () => comment)];
    const end = `data: ${JSON.stringify(chunk({}, { finish_reason: "stop" }))}\n\n`;
    const chunks = [...Array.from({ length: 8 }, () => stretch).flat(), end];
    const { transport } = await transportFor([{ chunks, gapMs: 20 }], { streamIdleMs: 5000, streamPayloadIdleMs: 700 });
    const startedAt = performance.now();
    expect((await collect(transport.chatStream(ask))).filter(({ type }) => type === "text-delta")).toHaveLength(8);
    expect(performance.now() - startedAt).toBeGreaterThan(700);
  });

  test("time that the reader takes does not count", async () => {
    const { transport } = await transportFor([streamed("a", "b", "c")], {
      streamIdleMs: 250,
      streamPayloadIdleMs: 250,
    });
    let count = 0;
    for await (const _ of transport.chatStream(ask)) {
      count++;
      await sleep(300);
    }
    expect(count).toBe(4);
  });
});
