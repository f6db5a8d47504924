import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RecordedRequest } from "../../support/scripted-upstream.js";
import { failure, transportFor, vectors } from "../../support/transport-for.js";

const embed = (text: string) => ({ model: "m", input: [text] });
const texts = (requests: readonly RecordedRequest[]) =>
  requests.map(({ body }) => (body as { readonly input: readonly string[] }).input[0]);

/** A bucket of one: one call now, one more every 6 s. */
const tenAMinute = { requestsPerMinute: 10 };

describe("a budget of requests per minute (E8)", () => {
  test("spaces calls, in the order in which they were made", async () => {
    // A bucket of 60, and one more each 111 ms, counted from the first call on.
    const left: number[] = [];
    const { transport, upstream } = await transportFor(() => vectors(1), {
      requestsPerMinute: 600,
      concurrency: 1,
      onEvent: ({ type }) => void (type === "request" && left.push(performance.now())),
    });
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 64 }, (_, index) => transport.embeddings(embed(String(index)))));
    for (const beyond of [1, 2, 3, 4]) expect(left[59 + beyond]! - startedAt).toBeGreaterThanOrEqual(beyond * 110);
    expect(texts(upstream.requests)).toEqual(Array.from({ length: 64 }, (_, index) => String(index)));
  });

  test("belongs to each model alone", async () => {
    const { transport, upstream } = await transportFor(() => vectors(1), tenAMinute);
    // One budget for all would make the second wait 6 s, which is refused at once.
    const call = { deadlineMs: 4000 };
    await Promise.all(["a", "b", "c"].map((model) => transport.embeddings({ model, input: ["x"] }, call)));
    expect(upstream.requests).toHaveLength(3);
  });

  test("that would make a call wait past its deadline fails it at once, saying how long", async () => {
    const { transport, upstream } = await transportFor(() => vectors(1), tenAMinute);
    await transport.embeddings(embed("first"));
    const startedAt = performance.now();
    const error = await failure(transport.embeddings(embed("second"), { deadlineMs: 3000 }));
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(error).toMatchObject({ code: "rate-limited", attempts: 0, retryable: true });
    expect((error as { readonly retryAfterMs: number }).retryAfterMs).toBeGreaterThan(5000);
    expect(String(error)).toMatch(/budget per minute of m/);
    expect(upstream.requests).toHaveLength(1);
  });

  test("counts the calls ahead when it checks a deadline", async () => {
    const { transport } = await transportFor(() => vectors(1), tenAMinute);
    await transport.embeddings(embed("first"));
    const controller = new AbortController();
    const waiting = failure(transport.embeddings(embed("second"), { signal: controller.signal }));
    // Alone it would wait 6 s, behind another 12 s.
    expect(await failure(transport.embeddings(embed("third"), { deadlineMs: 9000 }))).toMatchObject({
      code: "rate-limited",
    });
    controller.abort("enough");
    expect(await waiting).toBe("enough");
  });

  test("drops an aborted call at once, and the calls behind it move up", async () => {
    const { transport, upstream } = await transportFor(() => vectors(1), tenAMinute);
    await transport.embeddings(embed("first"));
    const [second, third] = [new AbortController(), new AbortController()];
    const aborted = failure(transport.embeddings(embed("second"), { signal: second.signal }));
    second.abort("changed my mind");
    expect(await aborted).toBe("changed my mind");
    // Behind another it would wait 12 s, and be refused at once.
    const call = { deadlineMs: 9000, signal: third.signal };
    const waiting = failure(transport.embeddings(embed("third"), call));
    await sleep(20);
    third.abort("it was waiting");
    expect(await waiting).toBe("it was waiting");
    expect(upstream.requests).toHaveLength(1);
  });

  test("counts every time that a call is sent", async () => {
    // A bucket of two, and one more each 3 s.
    const { transport, upstream } = await transportFor(() => ({ status: 500 }), { requestsPerMinute: 20 });
    const error = await failure(transport.embeddings(embed("x"), { deadlineMs: 1500 }));
    expect(error).toMatchObject({ code: "rate-limited", attempts: 2 });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe("a budget of tokens per minute (E8)", () => {
  test("is estimated before a call and corrected by what the service counted", async () => {
    // A bucket of 100 tokens; each text is estimated at 90, which alone would take 24 s, and counted as 1.
    const long = "x".repeat(270);
    const { transport, upstream } = await transportFor(() => vectors(1), { tokensPerMinute: 1000 });
    for (let call = 0; call < 5; call++) await transport.embeddings(embed(long));
    expect(upstream.requests).toHaveLength(5);
    expect(upstream.requests.at(-1)!.at - upstream.requests[0]!.at).toBeLessThan(12_000);
  });

  test("makes calls wait until their tokens are available", async () => {
    const long = "x".repeat(270);
    const counted = { json: { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 90 } } };
    const { transport, upstream } = await transportFor(() => counted, { tokensPerMinute: 1000 });
    await transport.embeddings(embed(long));
    const error = await failure(transport.embeddings(embed(long), { deadlineMs: 1500 }));
    expect(error).toMatchObject({ code: "rate-limited" });
    expect(upstream.requests).toHaveLength(1);
  });

  test("does not count pictures as text", async () => {
    const url = `data:image/png;base64,${"A".repeat(300_000)}`;
    const { transport } = await transportFor(
      () => ({ json: { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] } }),
      { tokensPerMinute: 1000 },
    );
    const content = [{ type: "image_url" as const, image_url: { url } }];
    const look = () => transport.chat({ model: "m", messages: [{ role: "user", content }] }, { deadlineMs: 2000 });
    expect([(await look()).text, (await look()).text]).toEqual(["ok", "ok"]);
  });
});

describe("adaptive concurrency", () => {
  test("after a refusal for load half as many calls are in flight, for that model alone", async () => {
    let refuse = true;
    let inFlight = 0;
    const most = { limited: 0, free: 0 };
    const { transport } = await transportFor(
      ({ body, end }) => {
        const free = (body as { readonly model: string }).model === "free";
        if (!free && refuse) {
          refuse = false;
          return { status: 503, headers: { "retry-after-ms": "30" } };
        }
        if (free) return { ...vectors(1), delayMs: 5 };
        most.limited = Math.max(most.limited, ++inFlight);
        void end.then(() => inFlight--);
        return { ...vectors(1), delayMs: 20 };
      },
      { concurrency: 8 },
    );
    await transport.embeddings(embed("opens the window of halving"));
    inFlight = 0;
    await Promise.all(Array.from({ length: 12 }, () => transport.embeddings(embed("x"))));
    expect(most.limited).toBeGreaterThanOrEqual(3);
    expect(most.limited).toBeLessThanOrEqual(6);
  });
});

test("a call that is sent again goes before those that came after it", async () => {
  let fail = true;
  const { transport, upstream } = await transportFor(
    () => {
      if (!fail) return { ...vectors(1), delayMs: 20 };
      fail = false;
      return { status: 500 };
    },
    { concurrency: 1, backoffMs: 0 },
  );
  await Promise.all(["1", "2", "3", "4", "5"].map((text) => transport.embeddings(embed(text))));
  // The second takes the slot while the first decides to try again.
  expect(texts(upstream.requests)).toEqual(["1", "2", "1", "3", "4", "5"]);
});

test("a cool-down that begins while calls wait for a slot holds for them too", async () => {
  const { transport, upstream } = await transportFor(
    (_, index) => (index === 0 ? { status: 429, retryAfterSeconds: 60, delayMs: 50 } : vectors(1)),
    { concurrency: 1 },
  );
  const calls = Array.from({ length: 4 }, () => failure(transport.embeddings(embed("x"), { deadlineMs: 20_000 })));
  await sleep(10);
  const startedAt = performance.now();
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: "rate-limited", retryable: true });
  expect(performance.now() - startedAt).toBeLessThan(5000);
  expect(upstream.requests).toHaveLength(1);
});

test("there is one layer of retries: as many requests arrive as the error says", async () => {
  const { transport, upstream } = await transportFor(() => ({ destroy: true }), { maxRetries: 3 });
  expect(await failure(transport.embeddings(embed("x")))).toMatchObject({ code: "network", attempts: 4 });
  expect(upstream.requests).toHaveLength(4);
});
