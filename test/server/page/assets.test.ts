import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openPage } from "../../../src/server/page/page.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";

/** Bytes and requests of a first visit, those of the API included. On a slow line each request costs more than 10 kB. */
const most = { bytes: 100_000, requests: 10 };

/** Addresses of the files that the HTML leads to. */
function filesIn(html: string): string[] {
  return [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!);
}

test.each([
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
] as const)(`what the HTML names is at most ${most.bytes} bytes over the wire, as %s`, async (encoding, decompress) => {
  const page = await openPage();
  const html = new TextDecoder().decode((await page.file(""))!.body);
  const sizes: [string, number][] = [];
  for (const path of ["", ...filesIn(html).map((each) => each.replace(/^page\//, ""))]) {
    const plain = (await page.file(path))!;
    const sent = (await page.file(path, `deflate, ${encoding};q=0.5`))!;
    expect(sent).toMatchObject({ encoding, type: plain.type });
    expect(Buffer.compare(decompress(sent.body), plain.body)).toBe(0);
    sizes.push([path, sent.body.length]);
  }
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(`The page is ${sizes.length} files of ${total} bytes as ${encoding}.`);
  expect(total).toBeLessThan(most.bytes);
});

describe.skipIf(isChromiumMissing)("a first visit", () => {
  const { open } = tabs();

  test(`takes at most ${most.requests} requests and ${most.bytes} bytes until something can be asked`, async () => {
    const { url } = await served(
      [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }],
      (folder) => ({
        uploads: { folder },
      }),
    );
    const { page } = await open(`${url}/livez`, { mayFail: /404/ });
    const sent = { bytes: 0, requests: 0 };
    const session = await page.context().newCDPSession(page);
    session.on("Network.requestWillBeSent", ({ request }) => {
      // The probe that was open before has no icon, which the browser may ask for as late as now.
      if (!request.url.endsWith("/favicon.ico")) sent.requests++;
    });
    session.on("Network.loadingFinished", ({ encodedDataLength }) => (sent.bytes += encodedDataLength));
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await page.goto(url, { waitUntil: "networkidle" });
    await page.locator(".examples button").first().waitFor();
    console.log(`A first visit took ${sent.requests} requests and ${sent.bytes} bytes.`);
    expect(sent.requests).toBeLessThanOrEqual(most.requests);
    expect(sent.bytes).toBeLessThanOrEqual(most.bytes);
    expect(sent.bytes).toBeGreaterThan(20_000);
  });
});

test("the HTML allows the server's own scripts alone, and is asked for again only when it has changed", async () => {
  const { send } = await served([]);
  const reply = await send("GET", "/");
  const html = await reply.text();
  const policy = reply.headers.get("content-security-policy")!;
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
  const again = await send("GET", "/", undefined, { "if-none-match": reply.headers.get("etag")! });
  expect(again.status).toBe(304);
  const [style] = filesIn(html).filter((path) => path.endsWith(".css"));
  expect((await send("GET", `/${style}`)).headers.get("cache-control")).toContain("immutable");
});

test("the licences of what the page brings along are beside it", async () => {
  const page = await openPage();
  const licences = new TextDecoder().decode((await page.file(`${page.version}/LICENSES.txt`))!.body);
  for (const name of ["preact", "@preact/signals", "marked", "dompurify", "highlight.js", "katex"])
    expect(licences).toContain(`${name}\n\n`);
});

test("nothing but the page's files can be read below it", async () => {
  const { send } = await served([]);
  const html = await (await send("GET", "/")).text();
  const folder = /page\/\w+\//.exec(html)![0];
  for (const path of ["", "main.js.map", "..%2f..%2fpage.js", "%2e%2e/page.js", "static", "components/app.js"]) {
    expect((await send("GET", `/${folder}${path}`)).status).toBe(404);
  }
});

test("below a path of its own the page is found without the slash as well, and left out when that is asked for", async () => {
  const mounted = await served([], { basePath: "/docs" });
  const { redirected, status, url } = await fetch(mounted.url);
  expect({ redirected, status, path: new URL(url).pathname }).toEqual({
    redirected: true,
    status: 200,
    path: "/docs/",
  });
  const without = await served([], { page: false });
  expect((await without.send("GET", "/")).status).toBe(404);
});
