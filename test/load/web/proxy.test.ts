import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { webProxySettings } from "../../../src/cli/command-context.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { tunnelProxy } from "../../support/tunnel-proxy.js";

const here = { allowPrivate: true, requestsPerSecond: 100, robots: false } as const;
const page = { text: "<p>Keys expire after 90 days.</p>", headers: { "content-type": "text/html" } };

/** A real proxy for plain requests, which carry the whole address; any host leads to the upstream. */
async function plainProxy(upstream: string) {
  const asked: { readonly url: string; readonly credentials: string | undefined }[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push({ url: String(incoming.url), credentials: incoming.headers["proxy-authorization"] });
    const { pathname } = new URL(String(incoming.url));
    send(new URL(pathname, upstream), (reply) => {
      outgoing.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(outgoing);
    }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function readPage(...[url, options]: Parameters<typeof readUrl>) {
  const context = createRunContext({});
  const documents = await collect(readUrl(url, options).read(context));
  return {
    texts: documents.map(({ text }) => text.trim()),
    failures: [...context.failures.values()].map(({ message }) => message),
  };
}

describe("pages come through the proxy of the options", () => {
  test("in plain, with its credentials, whatever the environment says", async () => {
    const upstream = await scriptedUpstream([page]);
    const { host, asked } = await plainProxy(upstream.baseUrl);
    const { texts } = await readPage("http://docs.example/keys", {
      ...here,
      httpProxyUrl: `http://me:hunter2@${host}`,
    });
    expect(texts).toEqual(["Keys expire after 90 days."]);
    expect(asked).toEqual([
      { url: "http://docs.example/keys", credentials: `Basic ${Buffer.from("me:hunter2").toString("base64")}` },
    ]);
  });

  test("at https: by a tunnel, and an error that names neither password nor proxy as the page", async () => {
    const { url, tunnels } = await tunnelProxy(403);
    const { failures } = await readPage("https://docs.example/keys", {
      ...here,
      httpsProxyUrl: url.replace("//", "//me:hunter2@"),
    });
    expect(tunnels.map(({ target }) => target)).toEqual(
      ["docs.example:443"].map((target) => new URL(`http://${target}`).host),
    );
    expect(failures).toHaveLength(1);
    expect(failures[0]).not.toContain("hunter2");
  });

  test("but not of a host that bypasses it, nor of the other scheme", async () => {
    const upstream = await scriptedUpstream([page, page]);
    const { host, asked } = await plainProxy(upstream.baseUrl);
    const bypassed = { ...here, httpProxyUrl: `http://${host}`, noProxy: ["127.0.0.1"] };
    expect((await readPage(`${upstream.baseUrl}/a`, bypassed)).failures).toEqual([]);
    expect((await readPage(`${upstream.baseUrl}/b`, { ...here, httpsProxyUrl: `http://${host}` })).failures).toEqual(
      [],
    );
    expect(asked).toEqual([]);
  });

  test("and what leads into one's own network is refused before the proxy hears of it", async () => {
    const { host, asked } = await plainProxy("http://127.0.0.1:1");
    const guarded = { ...here, allowPrivate: false, httpProxyUrl: `http://${host}` };
    for (const address of ["http://10.0.0.1/", "http://localhost/", "http://[::1]/"]) {
      expect((await readPage(address, guarded)).failures[0]).toContain("not an address of the public internet");
    }
    expect(asked).toEqual([]);
  });

  test("and an address that is none is refused without being quoted", async () => {
    const read = readPage("http://docs.example/", { ...here, httpProxyUrl: "me:hunter2@proxy" });
    await expect(read).rejects.toThrow(/httpProxyUrl must start with http/);
    await expect(read).rejects.not.toThrow(/hunter2/);
  });
});

test.each<[Record<string, string>, ReturnType<typeof webProxySettings>]>([
  [{}, {}],
  [{ NO_PROXY: "a" }, {}],
  [
    { HTTPS_PROXY: "http://p:1", NO_PROXY: "a, .b" },
    { httpsProxyUrl: "http://p:1", noProxy: ["a", ".b"] },
  ],
  [
    { http_proxy: "p:1", HTTP_PROXY: "http://q:2" },
    { httpProxyUrl: "http://p:1", noProxy: [] },
  ],
  [
    { all_proxy: "https://p", https_proxy: "" },
    { httpProxyUrl: "https://p", httpsProxyUrl: "https://p", noProxy: [] },
  ],
])("the command reads %j as %j, and this machine needs no proxy", (environment, { noProxy, ...expected }) => {
  const read = webProxySettings(environment);
  if (noProxy === undefined) expect(read).toEqual({});
  else expect(read).toEqual({ ...expected, noProxy: [...noProxy, "localhost", "127.0.0.1", "[::1]"] });
});
