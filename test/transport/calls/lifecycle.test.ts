import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { createTransport } from "../../../src/transport/transport.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "m", input: ["a"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
const never = { sse: [chunk({ content: "Hel" })], hang: true };

describe("concurrency", () => {
  test("the cap is reached and never passed", async () => {
    const { transport, upstream } = await transportFor(() => ({ ...vectors(1), delayMs: 5 }), { concurrency: 3 });
    await Promise.all(Array.from({ length: 20 }, () => transport.embeddings(one)));
    expect(upstream.requests).toHaveLength(20);
    expect(upstream.maxInFlight).toBe(3);
  });

  test("the cap holds for all models together", async () => {
    const { transport, upstream } = await transportFor(() => ({ ...vectors(1), delayMs: 5 }), { concurrency: 3 });
    const call = (_: unknown, index: number) => transport.embeddings({ ...one, model: `m${index % 4}` });
    await Promise.all(Array.from({ length: 20 }, call));
    expect(upstream.maxInFlight).toBe(3);
  });

  test("a stream gives its slot back with its headers, not with its end", async () => {
    const { transport } = await transportFor(({ path }) => (path.endsWith("embeddings") ? vectors(1) : never), {
      concurrency: 1,
    });
    for await (const event of transport.chatStream(ask)) {
      expect(event).toEqual({ type: "text-delta", text: "Hel" });
      expect((await transport.embeddings(one)).vectors).toHaveLength(1);
      break;
    }
  });

  test("a call that is aborted while it waits for a slot is never sent", async () => {
    const { transport, upstream } = await transportFor([{ ...vectors(1), delayMs: 50 }], { concurrency: 1 });
    const controller = new AbortController();
    const first = transport.embeddings(one);
    const second = failure(transport.embeddings(one, { signal: controller.signal }));
    controller.abort("changed my mind");
    expect(await second).toBe("changed my mind");
    await first;
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("an abort", () => {
  test("ends the call at once with the caller's own reason, and closes the connection", async () => {
    const { transport, upstream } = await transportFor([{ hang: true }]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const call = failure(transport.embeddings(one, { signal: controller.signal }));
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), 5000);
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("before the call means that nothing is sent", async () => {
    const { transport, upstream } = await transportFor([]);
    const reason = new Error("too late");
    const signal = AbortSignal.abort(reason);
    expect(await failure(transport.embeddings(one, { signal }))).toBe(reason);
    expect(await failure(transport.rerank({ model: "m", query: "q", documents: [] }, { signal }))).toBe(reason);
    expect(await failure(collect(transport.chatStream(ask, { signal })))).toBe(reason);
    expect(upstream.requests).toHaveLength(0);
  });

  test("ends the wait between two attempts", async () => {
    const { transport } = await transportFor([{ status: 503, retryAfterSeconds: 60 }]);
    const signal = AbortSignal.timeout(60);
    expect(await failure(transport.embeddings(one, { signal }))).toBe(signal.reason);
  });

  test("ends a stream in the middle", async () => {
    const { transport, upstream } = await transportFor([never]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const reading = failure(
      (async () => {
        for await (const _ of transport.chatStream(ask, { signal: controller.signal })) controller.abort(reason);
      })(),
    );
    expect(await reading).toBe(reason);
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("leaves no listener behind on a signal that lives on", async () => {
    const { transport } = await transportFor(({ path }) => (path.endsWith("embeddings") ? vectors(1) : streamed("a")));
    const { signal } = new AbortController();
    for (let call = 0; call < 3; call++) await transport.embeddings(one, { signal });
    await collect(transport.chatStream(ask, { signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("leaving", () => {
  test("the loop over a stream closes its connection", async () => {
    const { transport, upstream } = await transportFor([never]);
    for await (const _ of transport.chatStream(ask)) break;
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("nothing is sent before the loop over a stream begins", async () => {
    const { transport, upstream } = await transportFor([streamed("a")]);
    transport.chatStream(ask);
    await sleep(30);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("close()", () => {
  test("ends calls in flight and refuses those that come", async () => {
    const { transport, upstream } = await transportFor(({ path }) =>
      path.endsWith("embeddings") ? { hang: true } : never,
    );
    const calls = [failure(transport.embeddings(one)), failure(collect(transport.chatStream(ask)))];
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(2), 5000);
    await transport.close();
    for (const error of await Promise.all(calls)) expect(String(error)).toContain("the transport was closed");
    expect(await Promise.all(upstream.requests.map(({ end }) => end))).toEqual(["closed", "closed"]);
    expect(await failure(transport.embeddings(one))).toMatchObject({ code: "request" });
    await transport.close();
  });

  test("leaves a dispatcher that is the caller's own", async () => {
    const { upstream } = await transportFor(() => vectors(1));
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.close());
    const transport = createTransport({ baseUrl: upstream.baseUrl, dispatcher });
    await transport.embeddings(one);
    await transport.close();
    const again = createTransport({ baseUrl: upstream.baseUrl, dispatcher });
    expect((await again.embeddings(one)).vectors).toHaveLength(1);
  });

  test.each([
    ["closed", "await transport.close();"],
    ["forgotten", ""],
  ])("a process whose transport was %s exits by itself", async (_, ending) => {
    const { upstream } = await transportFor(({ path }) => (path.endsWith("embeddings") ? vectors(1) : streamed("a")));
    const modulePath = fileURLToPath(new URL("../../../dist/transport/transport.js", import.meta.url));
    const script = `
      const { createTransport } = await import(${JSON.stringify(modulePath)});
      const transport = createTransport({ baseUrl: ${JSON.stringify(upstream.baseUrl)} });
      await transport.embeddings(${JSON.stringify(one)}, { deadlineMs: 60_000 });
      for await (const _ of transport.chatStream(${JSON.stringify(ask)}, { deadlineMs: 60_000 }));
      ${ending}
      console.log("done");`;
    const options = { timeout: 15_000 };
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
    expect(stdout.trim()).toBe("done");
  });
});
