// In test:all alone: it lets time limits pass, for 11 s.
import { Agent } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { TransportError } from "../../../src/core/errors.js";
import type { TransportOptions } from "../../../src/transport/options.js";
import { createTransport } from "../../../src/transport/transport.js";
import { silentHost } from "../../support/silent-host.js";
import { failure, transportFor, vectors } from "../../support/transport-for.js";
import { tunnelProxy } from "../../support/tunnel-proxy.js";
import { catVideo } from "../../support/video-task.js";

function transportTo(options: TransportOptions) {
  const transport = createTransport({ backoffMs: 1, maxBackoffMs: 2, ...options });
  onTestFinished(() => transport.close());
  return transport;
}

/** Expects the fields of an error of a creation that surely never left. */
function expectNothingSent(error: unknown): void {
  expect((error as TransportError).code).not.toBe("ambiguous");
  expect((error as TransportError).submission).toBeUndefined();
  expect(String(error)).toContain("No task was created, and creating it again is safe");
}

/** A host that takes connections and says nothing: with TLS, or as a proxy, no request gets so far as to leave. */
const ways: readonly (readonly [string, (host: string) => TransportOptions])[] = [
  ["TLS", (host) => ({ baseUrl: `https://${host}` })],
  ["a proxy", (host) => ({ baseUrl: "http://service.test", proxyUrl: `http://${host}` })],
  ["a proxy to a service behind TLS", (host) => ({ baseUrl: "https://service.test", proxyUrl: `http://${host}` })],
  ["a proxy behind TLS", (host) => ({ baseUrl: "http://service.test", proxyUrl: `https://${host}` })],
];

describe.each(ways)("a creation given up while it connects through %s was not delivered (V13)", (_, to) => {
  test("by its deadline", async () => {
    const silent = await silentHost();
    const error = await failure(transportTo(to(silent.host)).createVideoTask(catVideo, { deadlineMs: 500 }));
    expect(error).toMatchObject({ code: "timeout", attempts: 1, retryable: true });
    expectNothingSent(error);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
  });

  test("by its read time-out, after which it is tried again", async () => {
    const silent = await silentHost();
    const transport = transportTo({ ...to(silent.host), videoCreateTimeoutMs: 100, maxRetries: 2 });
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "timeout", attempts: 3, retryable: true });
    expectNothingSent(error);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
  });

  test("by the time-out for connections", async () => {
    const silent = await silentHost();
    const transport = transportTo({ ...to(silent.host), connectTimeoutMs: 60, maxRetries: 1 });
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "network", attempts: 2, retryable: true });
    expectNothingSent(error);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
  });

  test("by the transport's closing", async () => {
    const silent = await silentHost();
    const transport = transportTo(to(silent.host));
    const creation = failure(transport.createVideoTask(catVideo));
    await vi.waitFor(() => expect(silent.accepted).toBe(1), 2000);
    await transport.close();
    const error = await creation;
    expect(error).toMatchObject({ code: "network", message: expect.stringContaining("closed") as string });
    expectNothingSent(error);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
  });

  test("when the connection breaks before it stands, and is tried again", async () => {
    const silent = await silentHost({ reset: true });
    const error = await failure(transportTo({ ...to(silent.host), maxRetries: 2 }).createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "network", attempts: 3, retryable: true });
    expectNothingSent(error);
    expect(silent.accepted).toBe(3);
  });
});

describe("a proxy that opens no tunnel (V13)", () => {
  test.each([502, 503, 429])("with status %i is asked again", async (status) => {
    const proxy = await tunnelProxy(status);
    const transport = transportTo({ baseUrl: "https://service.test", proxyUrl: proxy.url, maxRetries: 2 });
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "network", attempts: 3, retryable: true });
    expect(String(error)).toContain(`the proxy ${proxy.url} opened no tunnel to service.test:443 (status ${status})`);
    expectNothingSent(error);
  });

  test.each([
    [407, /other credentials in proxyUrl/],
    [403, /status 403/],
  ])("with status %i is not", async (status, message) => {
    const proxy = await tunnelProxy(status);
    const transport = transportTo({ baseUrl: "https://service.test", proxyUrl: proxy.url.replace("//", "//me:pw@") });
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "network", attempts: 1, retryable: false });
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toContain("pw@");
    expectNothingSent(error);
  });

  test("because the service behind it hangs up in the middle of TLS, is asked again", async () => {
    const proxy = await tunnelProxy();
    const broken = await silentHost({ reset: true });
    const transport = transportTo({ baseUrl: `https://${broken.host}`, proxyUrl: proxy.url, maxRetries: 1 });
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "network", attempts: 2 });
    expectNothingSent(error);
  });
});

test("a request sent on a connection that then stays silent may have arrived, also through a proxy (V13)", async () => {
  const proxy = await tunnelProxy();
  const silent = await silentHost();
  const transport = transportTo({ baseUrl: `http://${silent.host}`, proxyUrl: proxy.url });
  const error = await failure(transport.createVideoTask(catVideo, { deadlineMs: 1500 }));
  expect(error).toMatchObject({ code: "ambiguous", attempts: 1, submission: { model: catVideo.model } });
});

test("a creation given up in the HTTP client's own queue is never sent (V13)", async () => {
  const dispatcher = new Agent({ connections: 1 });
  onTestFinished(() => dispatcher.close());
  const { transport, upstream } = await transportFor(() => ({ ...vectors(1), delayMs: 1500 }), { dispatcher });
  const before = transport.embeddings({ model: "m", input: ["a"] });
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), 5000);
  const error = await failure(transport.createVideoTask(catVideo, { deadlineMs: 200 }));
  expect(error).toMatchObject({ code: "timeout", attempts: 1 });
  expectNothingSent(error);
  await before;
  // The same connection, behind whatever would have waited for it.
  await transport.embeddings({ model: "m", input: ["a"] });
  expect(upstream.requests.map(({ path }) => path)).toEqual(["/llm/v1/embeddings", "/llm/v1/embeddings"]);
});
