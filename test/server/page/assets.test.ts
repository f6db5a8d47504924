import { createHash } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openPage } from "../../../src/server/page/page.js";
import { served } from "../../support/served.js";

const maxBytes = 150_000;

/** Addresses of the files that the HTML leads to. */
function filesIn(html: string): string[] {
  const { imports } = JSON.parse(/<script type="importmap">(.*)<\/script>/.exec(html)![1]!) as {
    readonly imports: Readonly<Record<string, string>>;
  };
  const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!);
  return [...new Set([...links, ...Object.values(imports).map((path) => path.replace(/^\.\//, ""))])];
}

test.each([
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
] as const)(`the whole page is at most ${maxBytes} bytes over the wire, as %s`, async (encoding, decompress) => {
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
  expect(total).toBeLessThan(maxBytes);
});

test("every module that the page imports is one of its files", async () => {
  const page = await openPage();
  const html = new TextDecoder().decode((await page.file(""))!.body);
  const files = filesIn(html);
  const { imports } = JSON.parse(/<script type="importmap">(.*)<\/script>/.exec(html)![1]!) as {
    readonly imports: Readonly<Record<string, string>>;
  };
  const missing: string[] = [];
  for (const path of files.filter((each) => each.endsWith(".js"))) {
    const source = new TextDecoder().decode((await page.file(path.replace(/^page\//, "")))!.body);
    for (const [, specifier] of source.matchAll(/^(?:import|export)\b[^"';]*?["']([^"'\n]+)["'];?$/gm)) {
      const isOwn = specifier!.startsWith(".");
      const address = isOwn
        ? new URL(specifier!, `http://page/${path}`).pathname.slice(1)
        : imports[specifier!]?.slice(2);
      if (address === undefined || !files.includes(address)) missing.push(`${path} imports ${specifier}`);
    }
  }
  expect(missing).toEqual([]);
});

test("the HTML allows its own scripts alone, and is asked for again only when it has changed", async () => {
  const { send } = await served([]);
  const reply = await send("GET", "/");
  const html = await reply.text();
  const importMap = /<script type="importmap">(.*)<\/script>/.exec(html)![1]!;
  const policy = reply.headers.get("content-security-policy")!;
  expect(policy).toContain(`script-src 'self' 'sha256-${createHash("sha256").update(importMap).digest("base64")}';`);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  const again = await send("GET", "/", undefined, { "if-none-match": reply.headers.get("etag")! });
  expect(again.status).toBe(304);
  const [style] = filesIn(html).filter((path) => path.endsWith(".css"));
  expect((await send("GET", `/${style}`)).headers.get("cache-control")).toContain("immutable");
});

test("nothing but the page's files can be read below it", async () => {
  const { send } = await served([]);
  const html = await (await send("GET", "/")).text();
  const folder = /page\/\w+\//.exec(html)![0];
  for (const path of ["", "main.js.map", "..%2f..%2fpage.js", "%2e%2e/page.js", "static", "modules/zod.js"]) {
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
