import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { proxySettings } from "../../../src/cli/command-context.js";
import { collect } from "../../../src/core/stream.js";
import type { TransportOptions } from "../../../src/transport/options.js";
import { createTransport } from "../../../src/transport/transport.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { selfSigned } from "../../support/self-signed.js";
import { silentHost } from "../../support/silent-host.js";
import { tunnelProxy } from "../../support/tunnel-proxy.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "m", input: ["a"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };

/** An upstream behind TLS that speaks both versions of HTTP, and the versions in which it was spoken to. */
async function secureUpstream() {
  const versions: string[] = [];
  const { cert, key } = selfSigned();
  const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    request.resume();
    if (request.url.endsWith("embeddings")) response.end(JSON.stringify(vectors(1).json));
    else {
      response.setHeader("content-type", "text/event-stream");
      response.end(
        streamed("Hel", "lo")
          .sse!.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\n\n`)
          .join(""),
      );
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cert, versions };
}

function transportTo(options: TransportOptions) {
  const transport = createTransport({ maxRetries: 0, ...options });
  onTestFinished(() => transport.close());
  return transport;
}

test("connections are used again", async () => {
  const { transport, upstream } = await transportFor(() => vectors(1));
  for (let call = 0; call < 20; call++) await transport.embeddings(one);
  // A call may be made before the client has put the connection of the last one back.
  expect(upstream.connections).toBeLessThanOrEqual(2);
});

describe.each(["http", "https", "proxy"])("beside a host that takes connections over %s and stays silent", (way) => {
  /** The silent host is the service, or the proxy on the way to it. */
  const options = (host: string) =>
    way === "proxy" ? { baseUrl: "http://service.test", proxyUrl: `http://${host}` } : { baseUrl: `${way}://${host}` };
  const impatient = { readTimeoutMs: 20, maxRetries: 2, backoffMs: 1, maxBackoffMs: 2, concurrency: 64 };
  const calls = Array.from({ length: 64 });

  test("a call that is given up takes its connection along", async () => {
    const silent = await silentHost();
    const transport = transportTo({ ...options(silent.host), ...impatient });
    const errors = await Promise.all(calls.map(() => failure(transport.embeddings(one))));
    expect(new Set(errors.map((error) => (error as { code: string }).code))).toEqual(new Set(["timeout"]));
    // Kept for the next is what came to stand when its call was given up: where the client opened it late, since the
    // connection before it was still closing. So there are at most two for each call that there is room for, of 192.
    await vi.waitFor(() => expect(silent.open.size).toBeLessThanOrEqual(2 * 64), 2000);
    expect(silent.accepted).toBeGreaterThan(0);
  });

  test("closing ends every connection, those on their way too", async () => {
    const silent = await silentHost();
    const transport = transportTo({ ...options(silent.host), ...impatient, readTimeoutMs: 60_000 });
    const pending = Promise.all(calls.map(() => failure(transport.embeddings(one))));
    await vi.waitFor(() => expect(silent.open.size).toBe(64), 5000);
    await transport.close();
    await pending;
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
  });
});

describe("a proxy", () => {
  test("is used, with its credentials", async () => {
    const proxy = await tunnelProxy();
    const { upstream, transport } = await transportFor(() => vectors(1), {
      proxyUrl: proxy.url.replace("//", "//user:p%40ss@"),
    });
    await transport.embeddings(one);
    const credentials = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
    expect(proxy.tunnels).toEqual([{ target: new URL(upstream.baseUrl).host, credentials }]);
    expect(upstream.requests[0]!.headers).not.toHaveProperty("proxy-authorization");
  });

  test("is used to reach a service behind TLS", async () => {
    const proxy = await tunnelProxy();
    const { baseUrl, cert } = await secureUpstream();
    await transportTo({ baseUrl, proxyUrl: proxy.url, certificates: [cert] }).embeddings(one);
    expect(proxy.tunnels.map(({ target }) => target)).toEqual([new URL(baseUrl).host]);
  });

  test.each([["127.0.0.1"], ["*"], ["other.test", "127.0.0.1"]])("is bypassed for %s", async (...noProxy) => {
    const proxy = await tunnelProxy();
    const { transport } = await transportFor(() => vectors(1), { proxyUrl: proxy.url, noProxy });
    await transport.embeddings(one);
    expect(proxy.tunnels).toEqual([]);
  });

  test("that cannot be reached causes an error without its password", async () => {
    const { transport } = await transportFor([], { proxyUrl: "http://user:hunter2@127.0.0.1:1", maxRetries: 0 });
    const error = await failure(transport.embeddings(one));
    expect(error).toMatchObject({ code: "network" });
    expect(JSON.stringify(error) + String(error)).not.toContain("hunter2");
  });

  test("is not taken from the environment", async () => {
    const proxy = await tunnelProxy();
    const before = process.env["HTTP_PROXY"];
    process.env["HTTP_PROXY"] = proxy.url;
    onTestFinished(() => {
      if (before === undefined) delete process.env["HTTP_PROXY"];
      else process.env["HTTP_PROXY"] = before;
    });
    const { transport } = await transportFor(() => vectors(1));
    await transport.embeddings(one);
    expect(proxy.tunnels).toEqual([]);
  });

  test.each([
    ["https://host", { HTTPS_PROXY: "http://p:1" }, { proxyUrl: "http://p:1", noProxy: [] }],
    ["https://host", { HTTP_PROXY: "http://p:1" }, {}],
    ["http://host", { http_proxy: "p:1", NO_PROXY: "a, .b:80" }, { proxyUrl: "http://p:1", noProxy: ["a", ".b:80"] }],
    ["https://host", { https_proxy: "http://low", HTTPS_PROXY: "http://up" }, { proxyUrl: "http://low", noProxy: [] }],
    ["https://host", { ALL_PROXY: "http://p:1" }, { proxyUrl: "http://p:1", noProxy: [] }],
    ["https://host", { HTTPS_PROXY: "" }, {}],
    ["http://127.0.0.1:80", { HTTP_PROXY: "http://p:1" }, {}],
    ["http://localhost:80", { HTTP_PROXY: "http://p:1" }, {}],
  ])("of the command, for %s, comes from %j", (baseUrl, environment, expected) => {
    expect(proxySettings(baseUrl, environment)).toEqual(expected);
  });
});

describe("TLS", () => {
  test("an untrusted certificate is refused without a retry, and the error says what to check", async () => {
    const { baseUrl } = await secureUpstream();
    const error = await failure(transportTo({ baseUrl, maxRetries: 3 }).embeddings(one));
    expect(error).toMatchObject({ code: "network", attempts: 1, retryable: false });
    expect(String(error)).toMatch(/certificate was not accepted/);
  });

  test("a certificate of the caller's own is trusted", async () => {
    const { baseUrl, cert, versions } = await secureUpstream();
    expect((await transportTo({ baseUrl, certificates: [cert] }).embeddings(one)).vectors).toHaveLength(1);
    expect(versions).toEqual(["1.1"]);
  });

  test("HTTP/2 is used when it is enabled and offered, for whole replies and streams", async () => {
    const { baseUrl, cert, versions } = await secureUpstream();
    const transport = transportTo({ baseUrl, certificates: [cert], http2: true });
    expect((await transport.embeddings(one)).vectors).toHaveLength(1);
    const events = await collect(transport.chatStream(ask));
    expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(2);
    expect(versions).toEqual(["2.0", "2.0"]);
  });

  test("HTTP/1.1 is used when HTTP/2 is enabled but not offered", async () => {
    const { transport } = await transportFor(() => vectors(1), { http2: true });
    expect((await transport.embeddings(one)).vectors).toHaveLength(1);
  });
});

test.each([
  [{ proxyUrl: "socks://user:hunter2@host" }, /proxyUrl must start/],
  [{ noProxy: ["a,b"] }, /noProxy\.0/],
  [{ certificates: ["/etc/ca.pem"] }, /certificates\.0: must be a certificate in PEM form/],
  [{ dispatcher: new Agent(), http2: true }, /http2: a dispatcher of your own decides that/],
])("the option %j is refused by name, without a password", (options, message) => {
  const create = () => createTransport({ baseUrl: "http://host", ...options });
  expect(create).toThrow(message);
  expect(create).not.toThrow(/hunter2/);
});

test("a dispatcher of the caller's own carries every call", async () => {
  const upstream = await scriptedUpstream(() => ({
    sse: [chunk({ content: "a" }, { finish_reason: "stop" }), "[DONE]"],
  }));
  let carried = 0;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    carried++;
    return dispatch(options, handler);
  });
  await collect(transportTo({ baseUrl: upstream.baseUrl, dispatcher }).chatStream(ask));
  expect(carried).toBe(1);
});
